import { expect, test } from "vitest";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { claimTask } from "../../../../src/team/tasks/claim-task.ts";
import { changeTask, getTask } from "../../../../src/team/tasks/tasks.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { deadProcess } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const LEAD = "team-lead";

/** Creates a team with tasks that touch these patterns. */
async function withTouches(...touches: readonly (readonly string[])[]): Promise<TeamRef> {
  const ref = await testTeam(["ada", "bob"]);
  for (const [i, one] of touches.entries())
    await addTask(ref, LEAD, { subject: `task ${i + 1}`, touches: one });
  return ref;
}

test("claimTask › refuses a task that touches files of a running one, and names it and its owner", async () => {
  const ref = await withTouches(["src/api/**", "docs"], ["src/**/*.ts"], ["test/**"]);
  await claimTask(ref, "ada", "1");
  const refused = claimTask(ref, "bob", "2");
  await expect(refused).rejects.toMatchObject({
    code: "TASK_CONFLICT",
    exitCode: 4,
    message: expect.stringMatching(
      /^Task #2 touches src\/\*\*\/\*\.ts, which overlaps src\/api\/\*\* of task #1 \(in progress, owned by ada\)/,
    ),
    details: { reason: "touches_overlap", otherTaskId: "1", owner: "ada" },
  });
  expect(getTask(ref, "2")).toMatchObject({ status: "pending" });
  await expect(updateTask(ref, "bob", "2", { status: "in_progress" })).rejects.toMatchObject({
    code: "TASK_CONFLICT",
  });
  await expect(updateTask(ref, LEAD, "2", { status: "in_progress" })).rejects.toMatchObject({
    code: "TASK_CONFLICT",
  });
  await updateTask(ref, "ada", "1", { status: "completed" });
  expect((await claimTask(ref, "bob", "2")).status).toBe("in_progress");
});

test("claimTask › takes the lowest free task that touches no file of a running one", async () => {
  const ref = await withTouches(["src/**"], ["src/a.ts"], [], ["src/b.ts"]);
  expect((await claimTask(ref, "ada", undefined)).id).toBe("1");
  expect((await claimTask(ref, "bob", undefined)).id).toBe("3");
  await expect(claimTask(ref, "bob", undefined, { exclusive: true })).rejects.toMatchObject({
    code: "AGENT_BUSY",
  });
  await expect(claimTask(ref, LEAD, undefined, { exclusive: true })).rejects.toMatchObject({
    code: "TASK_NOT_FOUND",
  });
});

test("claimTask › starts one of two overlapping tasks when both are claimed at once", async () => {
  const ref = await withTouches(["src/**"], ["src/a.ts"]);
  const claims = await Promise.allSettled([claimTask(ref, "ada", "1"), claimTask(ref, "bob", "2")]);
  expect(claims.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("claimTask › ignores the files of a task whose owner's process has died", async () => {
  const ref = await withTouches(["src/**"], ["src/a.ts"]);
  await claimTask(ref, "ada", "1");
  const _lease = deadProcess();
  await changeTask(ref, "1", (task) => ({ ...task, metadata: { ...task.metadata, _lease } }));
  expect((await claimTask(ref, "bob", "2")).owner).toBe("bob");
  // Taking over the dead agent's task would run both.
  await expect(claimTask(ref, LEAD, "1")).rejects.toMatchObject({ code: "TASK_CONFLICT" });
});

test("updateTask › refuses patterns for a running task that overlap those of another one", async () => {
  const ref = await withTouches(["src/**"], ["test/**"]);
  await claimTask(ref, "ada", "1");
  await claimTask(ref, "bob", "2");
  await expect(updateTask(ref, "bob", "2", { touches: ["src/a.ts"] })).rejects.toMatchObject({
    code: "TASK_CONFLICT",
  });
  await updateTask(ref, "bob", "2", { touches: [] });
  expect(getTask(ref, "2").metadata?._touches).toBeUndefined();
});

test.each(["/etc/passwd", "../x", "a/../../b", "~/x", "!src", "@(a|b)", "a\u001b[31m", "x".repeat(301)])(
  "addTask › refuses the pattern %j, and creates nothing",
  async (pattern) => {
    const ref = await testTeam();
    await expect(addTask(ref, LEAD, { subject: "x", touches: [pattern] })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  },
);

test("a reviewer › gets the completed task, and may reopen it for its owner", async () => {
  const ref = await testTeam(["ada", "bob"]);
  await addTask(ref, LEAD, { subject: "Fix it", owner: "ada", reviewer: "bob@crew" });
  await claimTask(ref, "ada", "1");
  await updateTask(ref, "ada", "1", { status: "completed" });
  await expect(updateTask(ref, "ada", "1", { status: "in_progress" })).rejects.toMatchObject({
    code: "TASK_RESOLVED",
  });
  expect(await updateTask(ref, "bob", "1", { status: "in_progress" })).toMatchObject({
    status: "in_progress",
    owner: "ada",
  });
});

test("updateTask › keeps the links of a task whose start is refused", async () => {
  const ref = await withTouches(["docs"], ["src/**"], ["src/a.ts"]);
  await updateTask(ref, LEAD, "3", { addBlockedBy: ["1"] });
  await updateTask(ref, LEAD, "1", { status: "completed" });
  await claimTask(ref, "ada", "2");
  const start = updateTask(ref, "bob", "3", { status: "in_progress", removeBlockedBy: ["1"] });
  await expect(start).rejects.toMatchObject({ code: "TASK_CONFLICT" });
  expect(getTask(ref, "3").blockedBy).toEqual(["1"]);
});
