import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../../src/os/clock.ts";
import { ownIdentity } from "../../../src/os/process/identity.ts";
import { prepareRun } from "../../../src/team/records/write-records.ts";
import { createStatusKeeper, type StatusKeeper } from "../../../src/worker/status-record.ts";
import { atMost, type Bench, type Figure, type Place, type Setup } from "../figure.ts";
import { endServer, tmuxOf } from "../support/lead.ts";
import { sendOne } from "../support/message-history.ts";
import { canMeasureCost, costOf } from "../support/process-cost.ts";
import { sample } from "../support/samples.ts";
import { type BenchTeam, benchTeam, TEAM } from "../support/scratch.ts";
import { writeTasks } from "../support/tasks.ts";

const MEMBERS = 64;
const EVENTS_A_SECOND = 20;
/** One of this many events is a message; the others report a teammate's activity. */
const MESSAGE_EVERY = 10;
/** Milliseconds before the measurement, so that it does not contain the compilation of a start. */
const START_MS = 3_000;

/** A large busy team: columns and rows, and the share of a processor that its sidebar may use. */
const SIZES = [
  { columns: 34, rows: 60, percent: 5 },
  { columns: 200, rows: 60, percent: 8 },
];

export const sidebar: Bench = {
  name: "sidebar",
  title: `The sidebar of ${MEMBERS} teammates`,
  short: false,
  async run(setup) {
    const [place] = setup.places;
    if (place === undefined || !canMeasureCost) return [];
    const figures: Figure[] = [];
    for (const size of SIZES) figures.push(...(await watched(setup, place, size)));
    return figures;
  },
};

async function watched(
  setup: Setup,
  place: Place,
  { columns, rows, percent }: (typeof SIZES)[number],
): Promise<readonly Figure[]> {
  const names = ["ada", "bob", ...Array.from({ length: MEMBERS - 2 }, (_, index) => `agent-${index}`)];
  const team = await benchTeam(place, names);
  const keepers = await statusKeepers(team, names);
  writeTasks(team.ref, 20, { done: 5 });
  const words = [process.execPath, join(setup.dist, "teams.cjs"), "sidebar", TEAM];
  const size = ["-x", `${columns}`, "-y", `${rows}`];
  try {
    tmuxOf(team, "new-session", "-d", "-s", "bench", ...size, "--", ...words, ";", "set", "status", "off");
    await untilDrawn(team);
    await causeEvents(team, keepers, START_MS);
    const pid = Number(tmuxOf(team, "display-message", "-p", "-t", "=bench:", "#{pane_pid}"));
    const before = costOf([pid]);
    const ms = setup.amount(10_000, 3_000);
    await causeEvents(team, keepers, ms);
    const share = ((costOf([pid]).cpuMs - before.cpuMs) * 100) / ms;
    await delay(500);
    const key = (await sample(20, (turn) => press(team, turn % 2 === 0 ? "j" : "k"))).at(0.95);
    return [
      {
        what: `processor at ${EVENTS_A_SECOND} events a second, ${columns} × ${rows}`,
        value: share,
        unit: "%",
        goal: atMost(percent, "%", share),
      },
      {
        what: `a key → drawn, p95, ${columns} × ${rows}`,
        value: key,
        unit: "ms",
        goal: atMost(50, "ms", key),
      },
    ];
  } finally {
    endServer(team);
  }
}

/** Makes this process act as every member: it is alive, and reports the activity of each. */
async function statusKeepers({ ref }: BenchTeam, names: readonly string[]): Promise<readonly StatusKeeper[]> {
  await prepareRun(ref, names);
  return names.map((name) => {
    const keeper = createStatusKeeper(
      ref,
      name,
      { sessionId: name, transcript: "", process: ownIdentity(), bell: ref.paths.agent(name).bell },
      undefined,
      systemClock,
    );
    keeper.report("turn_started");
    return keeper;
  });
}

/** Causes events at an even pace for this many milliseconds. */
async function causeEvents(team: BenchTeam, keepers: readonly StatusKeeper[], ms: number): Promise<void> {
  const begin = performance.now();
  for (let event = 0; ; event += 1) {
    const due = (event * 1000) / EVENTS_A_SECOND;
    if (due >= ms) return;
    await delay(Math.max(0, begin + due - performance.now()));
    if (event % MESSAGE_EVERY === 0) await sendOne(team.ref);
    else keepers[event % keepers.length]?.setActivity(`Read src/part-${event}.ts`);
  }
}

async function untilDrawn(team: BenchTeam): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!screen(team).includes("ada")) {
    if (performance.now() > deadline) throw new Error(`The sidebar shows no teammate:\n${screen(team)}`);
    await delay(20);
  }
}

/** Presses a key, and waits until the screen changes; the figure includes some milliseconds of that check. */
async function press(team: BenchTeam, key: string): Promise<void> {
  const before = screen(team);
  tmuxOf(team, "send-keys", "-t", "=bench:", key);
  const deadline = performance.now() + 5_000;
  while (screen(team) === before) {
    if (performance.now() > deadline) throw new Error(`The screen did not change after the key ${key}.`);
  }
}

function screen(team: BenchTeam): string {
  return tmuxOf(team, "capture-pane", "-e", "-p", "-t", "=bench:");
}
