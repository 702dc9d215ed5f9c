import { expect, test } from "vitest";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { claimTask } from "../../../../src/team/tasks/claim-task.ts";
import { changeTask, getTask, listTasks, lockTasks } from "../../../../src/team/tasks/tasks.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { script } from "../../../support/processes/script-process.ts";
import { retireMember } from "../../../support/team/retire-member.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const claim = script("team/claim-task");
const LEAD = "team-lead";

/** What somebody was told, as `type #task`. */
async function told(ref: TeamRef, agent: string): Promise<string[]> {
  return (await unreadMessages(ref, agent)).map(({ protocol }) =>
    protocol !== undefined && "taskId" in protocol ? `${protocol.type} #${protocol.taskId}` : "",
  );
}

async function withTasks(members: string[], ...tasks: Parameters<typeof addTask>[2][]): Promise<TeamRef> {
  const ref = await testTeam(members);
  for (const task of tasks) await addTask(ref, LEAD, task);
  return ref;
}

test("an owner is told of its task, unless it gave it to itself", async () => {
  const ref = await testTeam(["a", "b"]);
  await addTask(ref, LEAD, { subject: "for a", owner: "a@crew" });
  await addTask(ref, "b", { subject: "for b", owner: "b" });
  await updateTask(ref, LEAD, "2", { owner: "a" });
  await updateTask(ref, LEAD, "2", { owner: "a" });
  expect(await told(ref, "a")).toEqual(["task_assignment #1", "task_assignment #2"]);
  expect(await told(ref, "b")).toEqual([]);
  expect(getTask(ref, "1").owner).toBe("a");
});

test("an owner that is no member is refused, and nothing is made", async () => {
  const ref = await testTeam(["a"]);
  await expect(addTask(ref, LEAD, { subject: "x", owner: "b" })).rejects.toMatchObject({
    code: "AGENT_NOT_FOUND",
  });
  expect(listTasks(ref)).toEqual([]);
});

test("starting a task claims it, with the owner's own process as lease", async () => {
  const ref = await withTasks(["a"], { subject: "x" });
  writeStatus(ref, "a", statusOf());
  await updateTask(ref, "a", "1", { status: "in_progress" });
  expect(getTask(ref, "1")).toMatchObject({
    owner: "a",
    status: "in_progress",
    metadata: { _lease: ownIdentity() },
  });
  await updateTask(ref, "a", "1", { status: "completed" });
  expect(getTask(ref, "1").metadata).not.toHaveProperty("_lease");
});

test("nobody gives or takes a lease by hand: a dead one would free somebody's task (S56)", async () => {
  const ref = await withTasks(
    ["a", "b"],
    { subject: "x" },
    { subject: "y", metadata: { _lease: deadProcess() } },
  );
  await claimTask(ref, "a", "1");
  await updateTask(ref, "b", "1", { metadata: { _lease: deadProcess() } });
  expect(getTask(ref, "1").metadata?._lease).toBeUndefined();
  expect(getTask(ref, "2").metadata).toBeUndefined();
  await changeTask(ref, "1", (task) => ({ ...task, metadata: { _lease: deadProcess() } }));
  await updateTask(ref, LEAD, "1", { description: "still the dead one's", metadata: { _lease: null } });
  expect(await claimTask(ref, "b", "1")).toMatchObject({ owner: "b" });
});

test("facts are merged, and taken away by null", async () => {
  const ref = await withTasks(["a"], { subject: "x", metadata: { keep: 1, drop: 2 } });
  await updateTask(ref, "a", "1", { metadata: { drop: null, added: 3 } });
  expect(getTask(ref, "1").metadata).toEqual({ keep: 1, added: 3 });
});

test("completing tells the lead, and each owner whose task has just become free (S57)", async () => {
  const ref = await withTasks(
    ["a", "b", "c"],
    { subject: "first" },
    { subject: "other" },
    { subject: "behind the first", owner: "b", blockedBy: ["1"] },
    { subject: "behind both", owner: "c", blockedBy: ["1", "2"] },
    { subject: "nobody's", blockedBy: ["1"] },
  );
  await updateTask(ref, "a", "1", { status: "in_progress" });
  await updateTask(ref, "a", "1", { status: "completed" });
  expect(await told(ref, LEAD)).toEqual(["task_completed #1"]);
  expect(await told(ref, "b")).toEqual(["task_assignment #3", "task_assignment #3"]);
  expect(await told(ref, "c")).toEqual(["task_assignment #4"]);
  await updateTask(ref, "a", "1", { status: "completed" });
  expect(await told(ref, LEAD)).toHaveLength(1);
  await updateTask(ref, LEAD, "2", { status: "completed" });
  expect(await told(ref, "c")).toHaveLength(2);
  expect(await told(ref, LEAD)).toHaveLength(1);
});

test("an owner that has ended keeps nobody from completing", async () => {
  const ref = await withTasks(["a", "b"], { subject: "1" }, { subject: "2", owner: "b", blockedBy: ["1"] });
  await retireMember(ref, "b", "killed", 5);
  expect(await updateTask(ref, "a", "1", { status: "completed" })).toMatchObject({ status: "completed" });
});

test("a blocked task cannot start, by anybody (S58)", async () => {
  const ref = await withTasks(["a"], { subject: "1" }, { subject: "2", blockedBy: ["1"] });
  for (const actor of ["a", LEAD]) {
    await expect(updateTask(ref, actor, "2", { status: "in_progress" })).rejects.toMatchObject({
      code: "TASK_BLOCKED",
      details: { reason: "blocked", blockedBy: ["1"] },
    });
    await expect(claimTask(ref, actor, "2")).rejects.toMatchObject({ code: "TASK_BLOCKED" });
  }
  await expect(updateTask(ref, "a", "2", { owner: "a" })).rejects.toMatchObject({ code: "TASK_BLOCKED" });
  await expect(updateTask(ref, "a", "2", { status: "completed" })).rejects.toMatchObject({
    code: "TASK_BLOCKED",
  });
  expect(getTask(ref, "2")).toMatchObject({ status: "pending" });
});

test("what somebody has is only his and the lead's", async () => {
  const ref = await withTasks(["a", "b"], { subject: "x" });
  await claimTask(ref, "a", "1");
  for (const update of [
    { status: "in_progress" },
    { status: "completed" },
    { status: "pending" },
    { status: "deleted" },
    { owner: "b" },
    { owner: "" },
  ] as const) {
    if (update.status === "in_progress") continue;
    await expect(updateTask(ref, "b", "1", update)).rejects.toMatchObject({
      code: "TASK_CLAIMED",
      details: { reason: "already_claimed", owner: "a" },
    });
  }
  expect(await updateTask(ref, "b", "1", { description: "a note" })).toMatchObject({ owner: "a" });
  expect(await updateTask(ref, "a", "1", { owner: "b" })).toMatchObject({ owner: "b" });
  expect(await updateTask(ref, LEAD, "1", { owner: "" })).toMatchObject({ status: "pending" });
  expect(getTask(ref, "1").owner).toBeUndefined();
});

test("a completed task is opened again by the lead only", async () => {
  const ref = await withTasks(["a"], { subject: "x" });
  await claimTask(ref, "a", "1");
  await updateTask(ref, "a", "1", { status: "completed" });
  for (const change of [
    () => updateTask(ref, "a", "1", { status: "pending" }),
    () => updateTask(ref, "a", "1", { status: "in_progress" }),
    () => claimTask(ref, "a", "1"),
  ]) {
    await expect(change()).rejects.toMatchObject({ code: "TASK_RESOLVED" });
  }
  expect(await updateTask(ref, LEAD, "1", { status: "pending" })).toMatchObject({
    status: "pending",
    owner: "a",
  });
});

test("a change that is refused has linked nothing either", async () => {
  const ref = await withTasks(["a", "b"], { subject: "1" }, { subject: "2" });
  await claimTask(ref, "a", "1");
  const update = updateTask(ref, "b", "1", { owner: "b", addBlockedBy: ["2"] });
  await expect(update).rejects.toMatchObject({ code: "TASK_CLAIMED" });
  expect(getTask(ref, "1").blockedBy).toEqual([]);
});

test("deleting says so, and the task is gone", async () => {
  const ref = await withTasks(["a"], { subject: "x" });
  expect(await updateTask(ref, "a", "1", { status: "deleted" })).toBeUndefined();
  await expect(updateTask(ref, "a", "1", { subject: "y" })).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
});

test("a task that was claimed while its deletion waited for the lock stays its claimer's", async () => {
  const ref = await withTasks(["a", "b"], { subject: "x" });
  let deleted: Promise<unknown> = Promise.resolve();
  await lockTasks(ref, async () => {
    deleted = updateTask(ref, "a", "1", { status: "deleted" });
    await claimTask(ref, "b", "1");
  });
  await expect(deleted).rejects.toMatchObject({ code: "TASK_CLAIMED" });
  expect(getTask(ref, "1").owner).toBe("b");
});

test("the lowest free task is claimed: not the blocked, the owned, the internal", async () => {
  const ref = await withTasks(
    ["a", "b"],
    { subject: "b's", owner: "b" },
    { subject: "internal", metadata: { _internal: true } },
    { subject: "blocked", blockedBy: ["1"] },
    { subject: "free" },
    { subject: "free too" },
  );
  expect((await claimTask(ref, "a", undefined)).id).toBe("4");
  expect((await claimTask(ref, "a", undefined)).id).toBe("5");
  await expect(claimTask(ref, "a", undefined)).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
  expect((await claimTask(ref, "b", undefined)).id).toBe("1");
});

test("whoever claims exclusively must have finished the rest", async () => {
  const ref = await withTasks(["a"], { subject: "1" }, { subject: "2" });
  await claimTask(ref, "a", "1", { exclusive: true });
  await expect(claimTask(ref, "a", "2", { exclusive: true })).rejects.toMatchObject({
    code: "AGENT_BUSY",
    details: { reason: "agent_busy", busyWithTasks: ["1"] },
  });
  expect(await claimTask(ref, "a", "1", { exclusive: true })).toMatchObject({ id: "1" });
  expect(await claimTask(ref, "a", "2")).toMatchObject({ owner: "a" });
});

test("a dead agent's task comes free, one of somebody without a process never does (S56)", async () => {
  const ref = await withTasks(["dead", "person", "a"], { subject: "1" }, { subject: "2" });
  writeStatus(ref, "dead", statusOf());
  await claimTask(ref, "dead", "1");
  await claimTask(ref, "person", "2");
  await expect(claimTask(ref, "a", "1")).rejects.toMatchObject({ code: "TASK_CLAIMED" });
  await changeTask(ref, "1", (task) => ({ ...task, metadata: { _lease: deadProcess() } }));
  expect((await claimTask(ref, "a", undefined)).id).toBe("1");
  await expect(claimTask(ref, "a", "2")).rejects.toMatchObject({ code: "TASK_CLAIMED" });
});

test("a suffixed name owns nothing of the other's (S55)", async () => {
  const ref = await withTasks(["writer", "writer-2"], { subject: "x", owner: "writer-2" });
  await expect(claimTask(ref, "writer", "1")).rejects.toMatchObject({ code: "TASK_CLAIMED" });
});

test("sixteen processes that claim from one list take every task once, each the lowest first (S54)", async () => {
  const ref = await testTeam();
  for (let i = 0; i < 100; i += 1) await addTask(ref, LEAD, { subject: String(i) });
  const runs = Array.from({ length: 16 }, (_, i) => claim(ref.home.root, ref.team, `m${i}`, ""));
  for (const run of runs) expect(await run.line()).toBe("ready");
  for (const run of runs) run.say("go");
  const taken = await Promise.all(
    runs.map(async (run) => (await run.line()).split(" ").filter(Boolean).map(Number)),
  );
  expect(taken.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  for (const ids of taken) expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  for (const [i, ids] of taken.entries()) {
    for (const id of ids) expect(getTask(ref, String(id)).owner).toBe(`m${i}`);
  }
}, 30_000);

test("of twenty processes that claim one task one wins, and nineteen hear why (S54)", async () => {
  const ref = await withTasks([], { subject: "x" });
  const runs = Array.from({ length: 20 }, (_, i) => claim(ref.home.root, ref.team, `m${i}`, "1"));
  for (const run of runs) expect(await run.line()).toBe("ready");
  for (const run of runs) run.say("go");
  const said = await Promise.all(runs.map((run) => run.line()));
  expect(said.filter((line) => line === "claimed")).toHaveLength(1);
  expect(said.filter((line) => line === "TASK_CLAIMED")).toHaveLength(19);
});
