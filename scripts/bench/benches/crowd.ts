import { readFileSync, writeFileSync } from "node:fs";
import { type Bench, countAtMost, type Figure, type Place, type Setup } from "../figure.ts";
import { race } from "../support/children.ts";
import { benchTeam } from "../support/scratch.ts";

const PROCESSES = 16;

/** Many processes write to one inbox at once, each as fast as possible. */
export const crowd: Bench = {
  name: "crowd",
  title: `${PROCESSES} processes sending to one inbox`,
  short: false,
  async run(setup) {
    const figures: Figure[] = [];
    for (const place of setup.places) figures.push(...(await figuresIn(setup, place)));
    return figures;
  },
};

async function figuresIn(setup: Setup, place: Place): Promise<readonly Figure[]> {
  const each = setup.amount(50, 5);
  const ours = await send(place, "ours", each);
  const usual = await send(place, "usual", each);
  const lost = PROCESSES * each - ours.arrived;
  return [
    {
      what: `messages, ${place.name}`,
      value: ours.rate,
      unit: "/s",
      references: [{ what: "read all, rewrite all", value: usual.rate }],
    },
    { what: `lost messages, ${place.name}`, value: lost, unit: "", goal: countAtMost(0, lost, "none") },
  ];
}

async function send(place: Place, approach: "ours" | "usual", each: number) {
  const names = Array.from({ length: PROCESSES }, (_, index) => `agent-${index}`);
  const { directory, ref } = await benchTeam(place, ["bob", ...names]);
  const inbox = ref.paths.inbox("bob");
  writeFileSync(inbox, "[]", { mode: 0o600 });
  const { ms } = await race(
    "sender",
    names.map((name) => [directory, name, `${each}`, approach]),
  );
  const arrived = (JSON.parse(readFileSync(inbox, "utf8")) as unknown[]).length;
  return { rate: (PROCESSES * each * 1000) / ms, arrived };
}
