import { expect, test } from "vitest";
import { systemClock } from "../../../../src/os/clock.ts";
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

/** Returns an agent's notifications as `type #task`. */
async function notified(ref: TeamRef, agent: string): Promise<string[]> {
  return (await unreadMessages(ref, agent)).map(({ protocol }) =>
    protocol !== undefined && "taskId" in protocol ? `${protocol.type} #${protocol.taskId}` : "",
  );
}

async function withTasks(members: string[], ...tasks: Parameters<typeof addTask>[2][]): Promise<TeamRef> {
  const ref = await testTeam(members);
  for (const task of tasks) await addTask(ref, LEAD, task);
  return ref;
}

test("task assignment › notifies the new owner, unless the owner assigned it itself", async () => {
  const ref = await testTeam(["a", "b"]);
  await addTask(ref, LEAD, { subject: "for a", owner: "a@crew" });
  await addTask(ref, "b", { subject: "for b", owner: "b" });
  await updateTask(ref, LEAD, "2", { owner: "a" });
  await updateTask(ref, LEAD, "2", { owner: "a" });
  expect(await notified(ref, "a")).toEqual(["task_assignment #1", "task_assignment #2"]);
  expect(await notified(ref, "b")).toEqual([]);
  expect(getTask(ref, "1").owner).toBe("a");
});

test("addTask › refuses an owner that is not a member, and creates nothing", async () => {
  const ref = await testTeam(["a"]);
  await expect(addTask(ref, LEAD, { subject: "x", owner: "b" })).rejects.toMatchObject({
    code: "AGENT_NOT_FOUND",
  });
  expect(listTasks(ref)).toEqual([]);
});

test("addTask › creates the task without its owner when that member leaves while a hook runs", async () => {
  const ref = await testTeam(["a", "b"]);
  const created = async (): Promise<void> => void (await retireMember(ref, "a", "killed"));
  const task = await addTask(ref, LEAD, { subject: "x", owner: "a" }, systemClock, { created });
  expect(task).toMatchObject({ id: "1", status: "pending" });
  expect([task.owner, task.metadata]).toEqual([undefined, undefined]);
  expect(await claimTask(ref, "b", undefined)).toMatchObject({ id: "1", owner: "b" });
});

test("updateTask › adds no link when it cannot remove another one of the same update", async () => {
  const ref = await withTasks([], { subject: "x" }, { subject: "y" }, { subject: "z" });
  const update = updateTask(ref, LEAD, "1", { addBlockedBy: ["2"], removeBlockedBy: ["3"] });
  await expect(update).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: "Task #1 does not wait for #3; nothing was changed.",
    hint: expect.stringContaining("waits for no task."),
  });
  expect(listTasks(ref).map(({ blocks, blockedBy }) => [...blocks, ...blockedBy])).toEqual([[], [], []]);
});

test("updateTask › adds no link when another process has removed a link of the same update meanwhile", async () => {
  const ref = await withTasks([], { subject: "x" }, { subject: "y", blockedBy: ["1"] }, { subject: "z" });
  const verify = async (): Promise<void> =>
    void (await updateTask(ref, LEAD, "2", { removeBlockedBy: ["1"] }));
  const change = { status: "completed", addBlockedBy: ["3"], removeBlockedBy: ["1"] } as const;
  await expect(updateTask(ref, LEAD, "2", change, systemClock, { verify })).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: "Task #2 does not wait for #1; nothing was changed.",
  });
  expect(listTasks(ref).map(({ blocks, blockedBy }) => [...blocks, ...blockedBy])).toEqual([[], [], []]);
  expect(getTask(ref, "2").status).toBe("pending");
});

test("updateTask › runs no hook and no verify command when it cannot remove a link", async () => {
  const ref = await withTasks([], { subject: "x" }, { subject: "y" });
  const ran: string[] = [];
  const completed = async (): Promise<void> => void ran.push("completed");
  const verify = async (): Promise<void> => void ran.push("verify");
  const change = { status: "completed", removeBlockedBy: ["2"] } as const;
  const update = updateTask(ref, LEAD, "1", change, systemClock, { completed, verify });
  await expect(update).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect(ran).toEqual([]);
});

test("updateTask › claims a task that is started, with the owner's process as lease", async () => {
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

test("updateTask › never sets or removes a lease through metadata (S56)", async () => {
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

test("updateTask › merges metadata, and removes keys set to null", async () => {
  const ref = await withTasks(["a"], { subject: "x", metadata: { keep: 1, drop: 2 } });
  await updateTask(ref, "a", "1", { metadata: { drop: null, added: 3 } });
  expect(getTask(ref, "1").metadata).toEqual({ keep: 1, added: 3 });
});

test("completing a task › notifies the lead and the owners of newly unblocked tasks (S57)", async () => {
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
  expect(await notified(ref, LEAD)).toEqual(["task_completed #1"]);
  expect(await notified(ref, "b")).toEqual(["task_assignment #3", "task_assignment #3"]);
  expect(await notified(ref, "c")).toEqual(["task_assignment #4"]);
  await updateTask(ref, "a", "1", { status: "completed" });
  expect(await notified(ref, LEAD)).toHaveLength(1);
  await updateTask(ref, LEAD, "2", { status: "completed" });
  expect(await notified(ref, "c")).toHaveLength(2);
  expect(await notified(ref, LEAD)).toHaveLength(1);
});

test("completing a task › works even if a blocked task's owner has ended", async () => {
  const ref = await withTasks(["a", "b"], { subject: "1" }, { subject: "2", owner: "b", blockedBy: ["1"] });
  await retireMember(ref, "b", "killed", 5);
  expect(await updateTask(ref, "a", "1", { status: "completed" })).toMatchObject({ status: "completed" });
});

test("updateTask and claimTask › refuse to start a blocked task for every member (S58)", async () => {
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

test("updateTask › lets only the owner and the lead change a claimed task", async () => {
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

test("updateTask › lets only the lead reopen a completed task", async () => {
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

test("updateTask › adds no links if the change is refused", async () => {
  const ref = await withTasks(["a", "b"], { subject: "1" }, { subject: "2" });
  await claimTask(ref, "a", "1");
  const update = updateTask(ref, "b", "1", { owner: "b", addBlockedBy: ["2"] });
  await expect(update).rejects.toMatchObject({ code: "TASK_CLAIMED" });
  expect(getTask(ref, "1").blockedBy).toEqual([]);
});

test("updateTask › adds no links that block its own start", async () => {
  const ref = await withTasks(["a"], { subject: "1" }, { subject: "2" });
  for (const actor of ["a", LEAD]) {
    const update = updateTask(ref, actor, "1", { status: "in_progress", addBlockedBy: ["2"] });
    await expect(update).rejects.toMatchObject({ code: "TASK_BLOCKED" });
  }
  expect([getTask(ref, "1").blockedBy, getTask(ref, "2").blocks]).toEqual([[], []]);
});

test("updateTask › returns undefined for a deletion, and the task is gone", async () => {
  const ref = await withTasks(["a"], { subject: "x" });
  expect(await updateTask(ref, "a", "1", { status: "deleted" })).toBeUndefined();
  await expect(updateTask(ref, "a", "1", { subject: "y" })).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
});

test("updateTask › refuses a deletion if the task was claimed while it waited for the lock", async () => {
  const ref = await withTasks(["a", "b"], { subject: "x" });
  let deleted: Promise<unknown> = Promise.resolve();
  await lockTasks(ref, async () => {
    deleted = updateTask(ref, "a", "1", { status: "deleted" });
    await claimTask(ref, "b", "1");
  });
  await expect(deleted).rejects.toMatchObject({ code: "TASK_CLAIMED" });
  expect(getTask(ref, "1").owner).toBe("b");
});

test("claimTask › takes the lowest free task: not blocked, owned or internal", async () => {
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

test("claimTask › with exclusive refuses an agent with an unfinished task", async () => {
  const ref = await withTasks(["a"], { subject: "1" }, { subject: "2" });
  await claimTask(ref, "a", "1", { exclusive: true });
  await expect(claimTask(ref, "a", "2", { exclusive: true })).rejects.toMatchObject({
    code: "AGENT_BUSY",
    details: { reason: "agent_busy", busyWithTasks: ["1"] },
  });
  expect(await claimTask(ref, "a", "1", { exclusive: true })).toMatchObject({ id: "1" });
  expect(await claimTask(ref, "a", "2")).toMatchObject({ owner: "a" });
});

test("claimTask › takes a dead agent's task, but never a task of a member without a process (S56)", async () => {
  const ref = await withTasks(["dead", "person", "a"], { subject: "1" }, { subject: "2" });
  writeStatus(ref, "dead", statusOf());
  await claimTask(ref, "dead", "1");
  await claimTask(ref, "person", "2");
  await expect(claimTask(ref, "a", "1")).rejects.toMatchObject({ code: "TASK_CLAIMED" });
  await changeTask(ref, "1", (task) => ({ ...task, metadata: { _lease: deadProcess() } }));
  expect((await claimTask(ref, "a", undefined)).id).toBe("1");
  await expect(claimTask(ref, "a", "2")).rejects.toMatchObject({ code: "TASK_CLAIMED" });
});

test("claimTask › treats a name with a suffix as another member (S55)", async () => {
  const ref = await withTasks(["writer", "writer-2"], { subject: "x", owner: "writer-2" });
  await expect(claimTask(ref, "writer", "1")).rejects.toMatchObject({ code: "TASK_CLAIMED" });
});

test.for([
  ["sixteen processes", (i: number) => `m${i}`],
  ["sixteen processes of one member", () => "m"],
] as const)("claimTask › %s take each task once, the lowest first (S54)", async ([, nameOf]) => {
  const ref = await testTeam();
  for (let i = 0; i < 100; i += 1) await addTask(ref, LEAD, { subject: String(i) });
  const runs = Array.from({ length: 16 }, (_, i) => claim(ref.home.root, ref.team, nameOf(i), ""));
  for (const run of runs) expect(await run.line()).toBe("ready");
  for (const run of runs) run.say("go");
  const taken = await Promise.all(
    runs.map(async (run) => (await run.line()).split(" ").filter(Boolean).map(Number)),
  );
  expect(taken.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  for (const ids of taken) expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  for (const [i, ids] of taken.entries()) {
    for (const id of ids) expect(getTask(ref, String(id)).owner).toBe(nameOf(i));
  }
});

test("claimTask › one of twenty processes wins a task, and the others learn why not (S54)", async () => {
  const ref = await withTasks([], { subject: "x" });
  const runs = Array.from({ length: 20 }, (_, i) => claim(ref.home.root, ref.team, `m${i}`, "1"));
  for (const run of runs) expect(await run.line()).toBe("ready");
  for (const run of runs) run.say("go");
  const answers = await Promise.all(runs.map((run) => run.line()));
  expect(answers.filter((line) => line === "claimed")).toHaveLength(1);
  expect(answers.filter((line) => line === "TASK_CLAIMED")).toHaveLength(19);
});
