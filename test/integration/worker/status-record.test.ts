import fs, { mkdirSync, rmdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/os/clock.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { createStatusKeeper, type StatusKeeper } from "../../../src/worker/status-record.ts";
import { statusOf } from "../../support/team/status-records.ts";
import { testTeam } from "../../support/team/test-team.ts";

function keeperIn(
  ref: TeamRef,
  hooks: { isOver?: () => boolean; onProblem?: (text: string) => void } = {},
): StatusKeeper {
  const { sessionId, transcript, process: own } = statusOf();
  return createStatusKeeper(
    ref,
    "dev",
    { sessionId, transcript, process: own },
    undefined,
    systemClock,
    hooks,
  );
}

/** Makes each replacement of a file fail, even for root, until the returned function is called. */
function block(path: string): () => void {
  mkdirSync(join(path, "in-the-way"), { recursive: true });
  return () => {
    rmdirSync(join(path, "in-the-way"));
    rmdirSync(path);
  };
}

test("status record › survives failed writes, reports the first, and writes the whole status with the next change", async () => {
  const ref = await testTeam(["dev"]);
  const problems: string[] = [];
  const path = ref.paths.agent("dev").status;
  const unblock = block(path);
  const status = keeperIn(ref, { onProblem: (text) => problems.push(text) });
  expect(status.failure).toMatchObject({ code: expect.stringMatching(/^E/) });
  status.report("ready");
  status.report("turn_started", "thinking", 2);
  expect(problems).toEqual([expect.stringContaining("the status of dev could not be written")]);
  unblock();
  status.addSpent({ input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }, 0.5);
  expect(status.failure).toBeUndefined();
  expect(readStatus(ref, "dev")).toMatchObject({
    state: "running",
    activity: "thinking",
    inTurn: 2,
    costUsd: 0.5,
  });
  fs.rmSync(path);
  block(path);
  status.setActivity("again");
  expect(problems).toHaveLength(2);
});

test("status record › is synced once for each start, when the agent is ready", async () => {
  const ref = await testTeam(["dev"]);
  const { fsyncSync } = fs;
  let syncs = 0;
  const counted = (fd: number): void => {
    syncs += 1;
    fsyncSync(fd);
  };
  const use = (call: typeof fsyncSync): void => {
    fs.fsyncSync = call;
    syncBuiltinESMExports();
  };
  onTestFinished(() => use(fsyncSync));
  use(counted);
  const status = keeperIn(ref);
  expect(syncs).toBe(0);
  status.report("ready");
  // One sync of the content, and one of the directory.
  expect(syncs).toBe(2);
  status.report("turn_started");
  status.report("turn_ended");
  status.report("ended");
  expect(syncs).toBe(2);
});

test("status record › is unknown after a pause when the ends of turns are unseen", async () => {
  const ref = await testTeam(["dev"]);
  const status = keeperIn(ref);
  status.report("ready");
  status.hideTurnEnds();
  const states = (["turn_started", "turn_ended", "budget_spent", "turn_ended"] as const).map((event) => {
    status.report(event);
    return readStatus(ref, "dev")?.state;
  });
  expect(states).toEqual(["running", "unknown", "paused", "unknown"]);
});

test("status record › is not written by an agent that was given up", async () => {
  const ref = await testTeam(["dev"]);
  let isOver = false;
  const status = keeperIn(ref, { isOver: () => isOver });
  status.report("ready");
  isOver = true;
  status.report("turn_started");
  status.addSpent({ input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }, 0.5);
  status.report("ended");
  expect(readStatus(ref, "dev")).toMatchObject({ state: "idle", costUsd: 0 });
  fs.rmSync(ref.paths.agent("dev").run, { recursive: true });
  status.setActivity("late");
  expect(fs.existsSync(ref.paths.agent("dev").run)).toBe(false);
});
