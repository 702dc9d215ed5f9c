import type { OperationContext } from "../../../src/operations/context.ts";
import { spawnTeammates } from "../../../src/operations/spawn/spawn.ts";
import { supervise } from "../../../src/operations/supervision/supervise.ts";
import { processTable, signalProcess } from "../../../src/os/process/process-table.ts";
import { readExit, readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import { watchLifeline } from "../../../src/wakeup/lifeline.ts";
import { openTreeBell } from "../../../src/wakeup/tree-bell.ts";
import { atMost, type Bench, type Figure, type Place, type Setup } from "../figure.ts";
import { endTeam, leadOf, tmuxOf, untilIdle } from "../support/lead.ts";
import { Samples, timeOf } from "../support/samples.ts";
import { type BenchTeam, benchTeam } from "../support/scratch.ts";

/** The time until the end of a teammate in a pane is noticed: the time column of docs/endings.md. */
export const endings: Bench = {
  name: "endings",
  title: "Unrequested ends",
  short: false,
  async run(setup) {
    const [place] = setup.places;
    if (place === undefined) return [];
    const figures: Figure[] = [];
    for (const ending of ENDINGS) figures.push(await measure(setup, place, ending));
    return figures;
  },
};

interface Ending {
  readonly what: string;
  /** Milliseconds. */
  readonly limit: number;
  readonly end: (team: BenchTeam, name: string) => unknown;
  /** Resolves when the end is noticed; called before the end. */
  readonly noticed: (team: BenchTeam, name: string, ctx: OperationContext) => Promise<unknown>;
}

const kill = ({ ref }: BenchTeam, name: string): unknown =>
  signalProcess(readStatus(ref, name)?.process.pid ?? 0, "SIGKILL");

const ENDINGS: readonly Ending[] = [
  { what: "SIGKILL of an agent → recorded, with its last lines", limit: 100, end: kill, noticed: recorded },
  {
    what: "kill-pane → recorded",
    limit: 100,
    end: (team, name) => tmuxOf(team, "kill-pane", "-t", readPlace(team.ref, name)?.paneId ?? ""),
    noticed: recorded,
  },
  {
    what: "SIGKILL of the launch script → the lifeline ends",
    limit: 20,
    end: ({ ref }, name) => {
      const outer = readPlace(ref, name)?.panePid;
      for (const { pid } of processTable().filter(({ ppid }) => ppid === outer))
        signalProcess(pid, "SIGKILL");
    },
    noticed: async ({ ref }, name) => {
      const line = watchLifeline(ref.paths.agent(name).lifeline);
      await line.ended;
      line.close();
    },
  },
  {
    what: "SIGKILL of an agent → the lead is notified, its tasks are unassigned",
    limit: 2_000,
    end: kill,
    noticed: notified,
  },
];

/** Ends idle teammates in separate panes, one after the other. */
async function measure(setup: Setup, place: Place, ending: Ending): Promise<Figure> {
  const names = Array.from({ length: setup.amount(6, 2) }, (_, index) => `agent-${index}`);
  const team = await benchTeam(place, []);
  const ctx = leadOf(setup, team);
  const background: Promise<unknown>[] = [];
  const took: number[] = [];
  try {
    await spawnTeammates(
      ctx,
      names.map((name) => ({ name })),
      { mode: "tmux", background: (work) => background.push(work) },
    );
    await Promise.all(background);
    await untilIdle(team, names);
    for (const name of names) {
      const noticed = ending.noticed(team, name, ctx);
      await new Promise((resolve) => setImmediate(resolve));
      took.push(
        await timeOf(() => {
          ending.end(team, name);
          return noticed;
        }),
      );
    }
  } finally {
    await endTeam(ctx, team);
  }
  const value = new Samples(took).median;
  return { what: ending.what, value, unit: "ms", goal: atMost(ending.limit, "ms", value) };
}

async function recorded({ ref }: BenchTeam, name: string): Promise<void> {
  const bell = openTreeBell([ref.paths.dir]);
  while (readExit(ref, name) === undefined) await bell.wait();
  bell.close();
}

async function notified(_: BenchTeam, name: string, ctx: OperationContext): Promise<void> {
  const watching = new AbortController();
  const printProblem = (message: string): void => console.error(message);
  await supervise(ctx, {
    signal: watching.signal,
    onEnd: (end) => end.name === name && watching.abort(),
    onChange: () => undefined,
    onProblem: printProblem,
  });
}
