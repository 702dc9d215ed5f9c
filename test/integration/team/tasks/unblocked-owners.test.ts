import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/os/clock.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { notifyPending } from "../../../../src/team/tasks/notify-owners.ts";
import { getTask } from "../../../../src/team/tasks/tasks.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { testTeam } from "../../../support/team/test-team.ts";

/** Returns an agent's notifications, each as `#task` or, if the task can start now, `#task is free`. */
async function notified(ref: TeamRef, agent: string): Promise<string[]> {
  return (await unreadMessages(ref, agent)).map(({ protocol }) =>
    protocol?.type === "task_assignment" ? `#${protocol.taskId}${protocol.isFree ? " is free" : ""}` : "",
  );
}

async function withTasks(members: string[], ...tasks: Parameters<typeof addTask>[2][]): Promise<TeamRef> {
  const ref = await testTeam(members);
  for (const task of tasks) await addTask(ref, LEAD_NAME, task);
  return ref;
}

test("deleting a task › notifies the owners whose tasks waited only for it", async () => {
  const ref = await withTasks(
    ["a", "b"],
    { subject: "first" },
    { subject: "other" },
    { subject: "waits for the first", owner: "a", blockedBy: ["1"] },
    { subject: "waits for both", owner: "b", blockedBy: ["1", "2"] },
    { subject: "unassigned", blockedBy: ["1"] },
  );
  await updateTask(ref, LEAD_NAME, "1", { status: "deleted" });
  expect(await notified(ref, "a")).toEqual(["#3", "#3 is free"]);
  expect(await notified(ref, "b")).toEqual(["#4"]);
  expect(getTask(ref, "3").metadata).toBeUndefined();
});

test("deleting a task › notifies no owner again if the task was completed", async () => {
  const ref = await withTasks(["a"], { subject: "1" }, { subject: "2", owner: "a", blockedBy: ["1"] });
  await updateTask(ref, LEAD_NAME, "1", { status: "completed" });
  await updateTask(ref, LEAD_NAME, "1", { status: "deleted" });
  expect(await notified(ref, "a")).toEqual(["#2", "#2 is free"]);
});

test("deleting a task › keeps a notification that cannot be sent, for the next process", async () => {
  const ref = await withTasks(["a"], { subject: "1" }, { subject: "2", owner: "a", blockedBy: ["1"] });
  const inbox = ref.paths.inbox("a");
  rmSync(inbox);
  // No user, not even root, can read a directory as a file.
  mkdirSync(inbox);
  await expect(updateTask(ref, LEAD_NAME, "1", { status: "deleted" })).rejects.toMatchObject({
    message: expect.stringContaining("Task #2 was changed, but a could not be notified"),
  });
  rmdirSync(inbox);
  await notifyPending(ref, getTask(ref, "2"), systemClock);
  expect(await notified(ref, "a")).toEqual(["#2 is free"]);
});

test("removing a dependency › notifies the owner each time its task can start again", async () => {
  const ref = await withTasks(["a"], { subject: "1" }, { subject: "2", owner: "a" });
  for (const _time of ["first", "second"]) {
    await updateTask(ref, LEAD_NAME, "2", { addBlockedBy: ["1"] });
    await updateTask(ref, LEAD_NAME, "2", { removeBlockedBy: ["1"] });
  }
  expect(await notified(ref, "a")).toEqual(["#2", "#2 is free", "#2 is free"]);
});

test("removing a dependency › does not notify an owner who removed it", async () => {
  const ref = await withTasks(["a"], { subject: "1" }, { subject: "2", owner: "a", blockedBy: ["1"] });
  await updateTask(ref, "a", "2", { removeBlockedBy: ["1"] });
  expect(await notified(ref, "a")).toEqual(["#2"]);
});
