import { claimTask } from "../../../src/team/tasks/claim-task.ts";
import { atMostTimes, type Bench, countAtMost, type Figure, type Place, type Setup } from "../figure.ts";
import { race } from "../support/children.ts";
import { sample } from "../support/samples.ts";
import { type BenchTeam, benchTeam } from "../support/scratch.ts";
import { writeTasks } from "../support/tasks.ts";

const PROCESSES = 16;
const NAMES = Array.from({ length: PROCESSES }, (_, index) => `agent-${index}`);
/** Flat: at most this many times the cost in a short list. */
const FLAT = 1.3;

/** Many processes claim from one list: claims a second, and whether two ever took the same task. */
export const claims: Bench = {
  name: "claims",
  title: "Claims from one list",
  short: true,
  async run(setup) {
    const figures: Figure[] = [];
    for (const place of setup.places) figures.push(...(await claimsByMany(setup, place)));
    const [place] = setup.places;
    if (place !== undefined) figures.push(...(await claimsByOne(setup, place)));
    return figures;
  },
};

async function claimsByMany(setup: Setup, place: Place): Promise<readonly Figure[]> {
  const tasks = setup.amount(10_000, 1_000);
  const ours = await claimAll(await listOf(place, tasks), "ours", setup.amount(25, 4));
  // The usual claim reads every task under the single lock.
  const usual = await claimAll(await listOf(place, tasks), "usual", setup.amount(2, 1));
  return [
    {
      what: `claims by ${PROCESSES} processes from ${tasks.toLocaleString("en")} tasks, ${place.name}`,
      value: ours.rate,
      unit: "/s",
      references: [{ what: "read all, rewrite one", value: usual.rate }],
    },
    {
      what: `tasks claimed twice, ${place.name}`,
      value: ours.doubled,
      unit: "",
      goal: countAtMost(0, ours.doubled, "none"),
    },
  ];
}

async function listOf(place: Place, tasks: number): Promise<BenchTeam> {
  const team = await benchTeam(place, NAMES);
  writeTasks(team.ref, tasks);
  return team;
}

async function claimAll(team: BenchTeam, approach: "ours" | "usual", each: number) {
  const { ms, lines } = await race(
    "claimer",
    NAMES.map((name) => [team.directory, name, `${each}`, approach]),
  );
  const ids = lines.flatMap((line) => line.split(" "));
  return { rate: (ids.length * 1000) / ms, doubled: ids.length - new Set(ids).size };
}

/** Measures one process that claims the lowest free task while nine tenths of the list are completed. */
async function claimsByOne(setup: Setup, place: Place): Promise<readonly Figure[]> {
  const costs: { size: number; median: number }[] = [];
  for (const size of [100, setup.amount(10_000, 1_000)]) {
    const { ref } = await benchTeam(place, ["ada"]);
    writeTasks(ref, size, { done: size * 0.9 });
    await claimTask(ref, "ada", undefined);
    const samples = await sample(Math.min(setup.amount(50, 9), size * 0.1 - 1), () =>
      claimTask(ref, "ada", undefined),
    );
    costs.push({ size, median: samples.median });
  }
  const few = { what: "of 100", value: costs[0]?.median ?? Number.NaN };
  return costs.map(({ size, median }, index) => ({
    what: `claim of the lowest free task of ${size.toLocaleString("en")}, ${place.name}`,
    value: median,
    unit: "ms",
    ...(index === 0 ? {} : { references: [few], goal: atMostTimes(FLAT, median, few) }),
  }));
}
