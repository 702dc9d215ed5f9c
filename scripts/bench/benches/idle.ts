import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { spawnTeammates } from "../../../src/operations/spawn/spawn.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { atMost, atMostTimes, type Bench, countAtMost, type Figure, type Setup } from "../figure.ts";
import { started } from "../support/children.ts";
import { endTeam, leadOf, pidsOf, untilIdle } from "../support/lead.ts";
import { modelServer } from "../support/model-server.ts";
import { type Probe, probeIn } from "../support/probe.ts";
import { canMeasureCost, costOf, residentMb } from "../support/process-cost.ts";
import { type BenchTeam, benchTeam, TEAM } from "../support/scratch.ts";

/**
 * Milliseconds until V8 has returned the memory that a start used; its collector runs some seconds after the
 * last work.
 */
const AFTER_START_MS = 12_000;

/** Maximum milliseconds after a start until idle teammates do nothing; a shared machine can pause for a minute. */
const SETTLING_MS = 180_000;

/** Maximum seconds for one turn of all teammates. */
const TURN_SECONDS = 60;

/** The activity of idle teammates. */
export const idle: Bench = {
  name: "idle",
  title: "Idle teammates",
  short: true,
  async run(setup) {
    const [place] = setup.places;
    if (place === undefined) return [];
    const counted = await benchTeam(place, []);
    const figures = [...(await activity(setup, counted))];
    if (canMeasureCost && !setup.short) figures.push(...(await costs(setup, await benchTeam(place, []))));
    return figures;
  },
};

/** Counts the forks and timers of two idle teammates in some seconds, and the forks of a command that sends. */
async function activity(setup: Setup, team: BenchTeam): Promise<readonly Figure[]> {
  const probe = probeIn(team.directory);
  const ctx = leadOf(setup, team, probe.env);
  const names = ["ada", "bob"];
  try {
    await spawnTeammates(
      ctx,
      names.map((name) => ({ name })),
      { mode: "process" },
    );
    await untilIdle(team, names);
    const seconds = setup.amount(12, 6);
    const { forks, fastTimers } = await quietest(probe, seconds);
    await teamsSend(setup, team, probe);
    const sent = probe.read();
    return [
      {
        what: `processes started by two teammates in ${seconds} s`,
        value: forks,
        unit: "",
        goal: countAtMost(0, forks, "none"),
      },
      {
        what: "timers under 5 s that are set or fire",
        value: fastTimers,
        unit: "",
        goal: countAtMost(0, fastTimers, "none"),
      },
      {
        what: "processes started by teams send and its recipient",
        value: sent.forks,
        unit: "",
        goal: countAtMost(0, sent.forks, "none"),
      },
    ];
  } finally {
    await endTeam(ctx, team);
  }
}

/**
 * Returns the counts of the first interval in which nothing happens, or of the last one before the deadline: the work of a start may
 * end late, and only work that never ends counts.
 * @param seconds more than the shortest timer that an idle process may have
 */
async function quietest(probe: Probe, seconds: number): Promise<ReturnType<Probe["read"]>> {
  const deadline = performance.now() + SETTLING_MS;
  for (;;) {
    probe.read();
    await delay(seconds * 1000);
    const seen = probe.read();
    if (seen.forks + seen.fastTimers === 0 || performance.now() > deadline) return seen;
  }
}

async function teamsSend(setup: Setup, team: BenchTeam, probe: Probe): Promise<void> {
  const words = [join(setup.dist, "teams.cjs"), "send", "bob", "hello", "--team", TEAM];
  const env = { ...team.env, ...probe.env };
  await once(started(words, { env, cwd: team.directory, stdio: ["ignore", "ignore", "inherit"] }), "exit");
}

/** Measures processor time, wake-ups and memory of a larger team, compared with an empty Node process. */
async function costs(setup: Setup, team: BenchTeam): Promise<readonly Figure[]> {
  const server = await modelServer();
  const ctx = leadOf(setup, team, { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "none-of-a-bench" });
  const names = Array.from({ length: 16 }, (_, index) => `agent-${index}`);
  const empty = started(["-e", "setInterval(() => undefined, 2 ** 31 - 1)"], { stdio: "ignore" });
  try {
    await spawnTeammates(
      ctx,
      names.map((name) => ({ name, model: "bench" })),
      { mode: "process" },
    );
    await untilIdle(team, names);
    const pids = pidsOf(team, names);
    await delay(AFTER_START_MS);
    const before = costOf(pids);
    const seconds = 20;
    await delay(seconds * 1000);
    const after = costOf(pids);
    const percent = (after.cpuMs - before.cpuMs) / (seconds * 10) / pids.length;
    const memory = memoryOf(pids);
    const addressed = names.slice(0, 4);
    await giveTurns(team, addressed);
    await delay(AFTER_START_MS);
    const memoryAfter = memoryOf(pidsOf(team, addressed));
    const node = { what: "an empty Node process", value: residentMb(empty.pid ?? 0) };
    return [
      {
        what: `processor use of each of ${pids.length} teammates`,
        value: percent,
        unit: "%",
        goal: atMost(0.1, "%", percent),
      },
      {
        what: `wake-ups of a teammate a minute, all threads`,
        value: ((after.wakeUps - before.wakeUps) / pids.length / seconds) * 60,
        unit: "",
      },
      {
        what: "memory of a teammate before its first model call",
        value: memory,
        unit: "MB",
        references: [node],
        goal: atMostTimes(1.5, memory, node),
      },
      {
        what: "memory of a teammate after its first model call",
        value: memoryAfter,
        unit: "MB",
        references: [node],
        goal: atMostTimes(2, memoryAfter, node),
      },
    ];
  } finally {
    empty.kill("SIGKILL");
    server.close();
    await endTeam(ctx, team);
  }
}

/** Returns the average of these processes, in megabytes. */
function memoryOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + residentMb(pid), 0) / pids.length;
}

/** Gives each teammate a turn with one model call, and waits for its end. */
async function giveTurns({ ref }: BenchTeam, names: readonly string[]): Promise<void> {
  for (const name of names) await sendMessage(ref, { from: LEAD_NAME, to: name, text: "hello" });
  for (let poll = 0; poll < TURN_SECONDS * 10; poll += 1) {
    const statuses = names.map((name) => readStatus(ref, name));
    if (statuses.every((status) => status?.state === "idle" && status.tokens.output > 0)) return;
    await delay(100);
  }
  throw new Error(`Not every teammate finished its turn within ${TURN_SECONDS} s.`);
}
