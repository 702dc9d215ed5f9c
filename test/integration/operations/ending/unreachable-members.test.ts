import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { deleteTeam } from "../../../../src/operations/ending/delete-team.ts";
import { killTeammates } from "../../../../src/operations/ending/kill.ts";
import { teamStatus } from "../../../../src/operations/status.ts";
import { reconcile } from "../../../../src/operations/supervision/reconcile.ts";
import { bootId, identityOf, ownIdentity, pidSpace } from "../../../../src/os/process/identity.ts";
import type { ProcessIdentity } from "../../../../src/schema/process-identity.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { claimTask } from "../../../../src/team/tasks/claim-task.ts";
import { createTask, findTask } from "../../../../src/team/tasks/tasks.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** Another container of this host that shares the home: same boot, other pids. */
const CONTAINER = { pidSpace: "container#pid:[1]", bootId: bootId() };
/** This machine before its last boot. */
const BEFORE_BOOT = { pidSpace: pidSpace(), bootId: "00000000-0000-4000-8000-000000000000" };

test("a member in another container › is not reported dead, and keeps its tasks (S77)", async () => {
  const ref = await teamOf({ ...deadProcess(), ...CONTAINER });
  const ctx = contextOf(ref);
  const { id } = await createTask(ref, { subject: "its own" });
  await claimTask(ref, "dev", id);
  expect(await reconcile(ctx)).toEqual([]);
  expect((await teamStatus(ctx)).members[1]).toMatchObject({ state: "unknown", alive: null });
  expect(findTask(ref, id)).toMatchObject({ status: "in_progress", owner: "dev" });
  await expect(claimTask(ref, "ada", id)).rejects.toMatchObject({ code: "TASK_CLAIMED" });
});

test("a member in another container › is not confused with a local process of its pid, which gets no signal (S77)", async () => {
  const { process, ended } = await bystander();
  const ref = await teamOf({ ...process, ...CONTAINER });
  const ctx = contextOf(ref);
  await expect(killTeammates(ctx, ["dev"], { timeoutMs: 1 })).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
  });
  expect(readTeam(ref).members).toHaveLength(3);
  await expect(deleteTeam(ctx)).rejects.toMatchObject({ code: "ACTIVE_MEMBERS" });
  expect(await killTeammates(ctx, ["dev"], { force: true })).toEqual([
    { name: "dev", outcome: "out-of-reach", left: [] },
  ]);
  expect(readTeam(ref).members).toHaveLength(2);
  expect(ended()).toBe(false);
});

test("a pid from another container or an earlier boot › gets no signal when the member is killed (S77)", async () => {
  for (const elsewhere of [CONTAINER, BEFORE_BOOT]) {
    const { process, ended } = await bystander();
    const ref = await teamOf({ ...process, ...elsewhere });
    await killTeammates(contextOf(ref), ["dev"], { force: true });
    expect(ended()).toBe(false);
  }
});

test("a member of an earlier boot › is dead, even if its pid and start time are in use again", async () => {
  const ref = await teamOf({ ...ownIdentity(), ...BEFORE_BOOT });
  const ctx = contextOf(ref);
  const { id } = await createTask(ref, { subject: "its own" });
  await claimTask(ref, "dev", id);
  expect(await reconcile(ctx)).toMatchObject([{ name: "dev", how: "crashed" }]);
  const task = findTask(ref, id);
  expect(task?.status).toBe("pending");
  expect(task?.owner).toBeUndefined();
});

/** Creates a team whose member dev has this process in all records of its start. */
async function teamOf(process: ProcessIdentity): Promise<TeamRef> {
  const ref = await testTeam(["dev", "ada"]);
  writeStatus(ref, "dev", statusOf({ process, instance: "i" }));
  const { pid: panePid, procStart: paneProcStart, ...where } = process;
  const place = { instance: "i", backend: "process", spawnedAt: 1, panePid, paneProcStart, ...where };
  writeFileSync(ref.paths.agent("dev").place, JSON.stringify(place));
  return ref;
}

/** Starts an unrelated process, which must survive. */
async function bystander(): Promise<{ process: ProcessIdentity; ended: () => boolean }> {
  const child = spawn("sleep", ["600"], { detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  const process = identityOf(child.pid ?? 0);
  if (process === undefined) throw new Error("The process has ended.");
  return { process, ended: () => child.exitCode !== null || child.signalCode !== null };
}
