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

test("each completion is noted and told once, and counted", () => {
  expect([isUnnoted(open), isUnnoted(completed(open))]).toEqual([false, true]);
  const first = withCompletion(completed(open), "a");
  expect([isUnnoted(first), completedBy(first), completionOf(first)]).toEqual([false, "a", 1]);
  const told = withTold(first);
  expect([isUnnoted(told), completedBy(told)]).toEqual([false, undefined]);
  expect([isReopened(told), isReopened(opened(told))]).toEqual([false, true]);
  const again = withReopened(opened(told));
  expect([isReopened(again), isUnnoted(completed(again)), completionOf(again)]).toEqual([false, true, 2]);
  expect(isUnnoted(withTold(completed(again)))).toBe(false);
});

test("a completion that was taken back untold is another one the next time", () => {
  const back = withReopened(opened(withCompletion(completed(open), "a")));
  expect([completedBy(completed(back)), isUnnoted(completed(back)), completionOf(back)]).toEqual([
    ...[undefined, true, 2],
  ]);
});

test("marks that are none of ours count as none", () => {
  const odd = { ...completed(open), metadata: { _completion: "x", _assigned: 1 } };
  expect([isUnnoted(odd), assignmentOf(odd)]).toEqual([true, undefined]);
});

test("an assignment is noted beside other facts, and leaves no trace", () => {
  expect(assignmentOf(withAssignment(open, "b", "a"))).toMatchObject({ to: "b", by: "a" });
  expect(withoutAssignment(withAssignment(open, "b", "a"))).toEqual(open);
  const rich = { ...open, metadata: { keep: 1 } };
  expect(withoutAssignment(withAssignment(rich, "b", "a"))).toEqual(rich);
});

test("an event's id is a uuid, the same for everybody and another for any other event", () => {
  expect(eventId("a", "b")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(eventId("a", "b")).toBe(eventId("a", "b"));
  expect(new Set([eventId("a", "b"), eventId("ab"), eventId("a", "b", ""), eventId("b", "a")]).size).toBe(4);
});
