import { expect, test } from "vitest";
import type { Task } from "../../../../src/schema/task.ts";
import { eventId } from "../../../../src/team/mailbox/event-message-id.ts";
import {
  assignmentOf,
  completedBy,
  completionOf,
  isReopened,
  isUnnoted,
  withAssignment,
  withCompletion,
  withoutAssignment,
  withReopened,
  withTold,
} from "../../../../src/team/tasks/pending-notifications.ts";

const open: Task = { id: "1", subject: "", description: "", status: "pending", blocks: [], blockedBy: [] };
const completed = (task: Task): Task => ({ ...task, status: "completed" });
const opened = (task: Task): Task => ({ ...task, status: "pending" });

test("a task's completion is noted and reported once, and each completion has its own number", () => {
  expect([isUnnoted(open), isUnnoted(completed(open))]).toEqual([false, true]);
  const first = withCompletion(completed(open), "a");
  expect([isUnnoted(first), completedBy(first), completionOf(first)]).toEqual([false, "a", 1]);
  const reported = withTold(first);
  expect([isUnnoted(reported), completedBy(reported)]).toEqual([false, undefined]);
  expect([isReopened(reported), isReopened(opened(reported))]).toEqual([false, true]);
  const again = withReopened(opened(reported));
  expect([isReopened(again), isUnnoted(completed(again)), completionOf(again)]).toEqual([false, true, 2]);
  expect(isUnnoted(withTold(completed(again)))).toBe(false);
});

test("a task's completion that was reverted before its report gets a new number the next time", () => {
  const back = withReopened(opened(withCompletion(completed(open), "a")));
  expect([completedBy(completed(back)), isUnnoted(completed(back)), completionOf(back)]).toEqual([
    ...[undefined, true, 2],
  ]);
});

test("invalid task marks of other programs count as missing", () => {
  const odd = { ...completed(open), metadata: { _completion: "x", _assigned: 1 } };
  expect([isUnnoted(odd), assignmentOf(odd)]).toEqual([true, undefined]);
});

test("a task's assignment keeps other metadata and is removed without a trace", () => {
  expect(assignmentOf(withAssignment(open, "b", "a"))).toMatchObject({ to: "b", by: "a" });
  expect(withoutAssignment(withAssignment(open, "b", "a"))).toEqual(open);
  const rich = { ...open, metadata: { keep: 1 } };
  expect(withoutAssignment(withAssignment(rich, "b", "a"))).toEqual(rich);
});

test("eventId is a UUID, the same for the same parts and different for different parts", () => {
  expect(eventId("a", "b")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(eventId("a", "b")).toBe(eventId("a", "b"));
  expect(new Set([eventId("a", "b"), eventId("ab"), eventId("a", "b", ""), eventId("b", "a")]).size).toBe(4);
});
