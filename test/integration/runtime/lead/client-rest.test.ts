import { expect, it, onTestFinished, vi } from "vitest";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { restOf, wakeLater } from "../../../../src/runtime/lead/client-rest.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { BackgroundTask } from "../../../../src/schema/status.ts";
import { prepareRun, writeRecord, writeStatus } from "../../../../src/team/records/write-records.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

const NOW = 1_000_000;
const DONE = { held: 0, interrupted: false, failure: undefined };

const taskOf = (fields: Partial<BackgroundTask>): BackgroundTask => ({
  id: "bash-1",
  kind: "bash",
  what: "serve",
  status: "running",
  how: "",
  outputFile: "/dev/null",
  startedAt: NOW,
  ...fields,
});

/** Returns why a lead rests if it, or its teammate, has these background tasks, and when it must be asked again. */
async function restWith(
  tasks: readonly BackgroundTask[],
  background = tasks.length,
  name: string = LEAD_NAME,
) {
  const ref = await testTeam(["ada"]);
  await prepareRun(ref, ["ada"]);
  for (const one of [LEAD_NAME, "ada"]) writeStatus(ref, one, statusOf());
  writeStatus(ref, name, statusOf({ background }));
  writeRecord(ref, ref.paths.agent(name).background, { process: ownIdentity(), tasks: [...tasks] });
  const wakes: number[] = [];
  const ctx = contextOf(ref, LEAD_NAME, { clock: { now: () => NOW } });
  return { rest: restOf({ ctx }, DONE, (ms) => wakes.push(ms)), wakes };
}

it("the end of a prompt › waits for a background command in its first minute only", async () => {
  expect(await restWith([])).toEqual({ rest: "done", wakes: [] });
  const young = taskOf({ startedAt: NOW - 20_000 });
  const old = taskOf({ id: "bash-2", startedAt: NOW - 60_000 });
  expect(await restWith([young, old])).toEqual({ rest: undefined, wakes: [40_000] });
  expect(await restWith([old])).toEqual({ rest: "done", wakes: [] });
});

it("the end of a prompt › also waits for a teammate's command in its first minute only", async () => {
  const young = taskOf({ startedAt: NOW - 20_000 });
  expect(await restWith([young], 1, "ada")).toEqual({ rest: undefined, wakes: [40_000] });
  expect(await restWith([taskOf({ startedAt: 0 })], 1, "ada")).toEqual({ rest: "done", wakes: [] });
});

it("the end of a prompt › waits for a subagent, and for reports that are not sent yet", async () => {
  const old = taskOf({ startedAt: 0 });
  const agent = taskOf({ id: "agent-1", kind: "agent", startedAt: 0 });
  expect(await restWith([old, agent])).toEqual({ rest: undefined, wakes: [] });
  expect(await restWith([old], 2)).toEqual({ rest: undefined, wakes: [] });
});

it("wakeLater › wakes once, after the delay of the newest call", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let wakes = 0;
  const wakeIn = wakeLater(() => {
    wakes += 1;
  });
  wakeIn(55_000);
  wakeIn(10_000);
  vi.advanceTimersByTime(10_000);
  expect(wakes).toBe(1);
  vi.advanceTimersByTime(60_000);
  expect(wakes).toBe(1);
});
