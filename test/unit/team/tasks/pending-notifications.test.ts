import { expect, test } from "vitest";
import type { Task } from "../../../../src/schema/task.ts";
import { eventMessageId } from "../../../../src/team/mailbox/send.ts";
import {
  completionNumber,
  isCompletionUnrecorded,
  isReopened,
  pendingAssignment,
  pendingCompletionBy,
  withCompletionNotified,
  withoutPendingAssignment,
  withPendingAssignment,
  withPendingCompletion,
  withReopened,
} from "../../../../src/team/tasks/pending-notifications.ts";

const open: Task = { id: "1", subject: "", description: "", status: "pending", blocks: [], blockedBy: [] };
const completed = (task: Task): Task => ({ ...task, status: "completed" });
const opened = (task: Task): Task => ({ ...task, status: "pending" });

test("a task's completion is recorded and reported once, and each completion has its own number", () => {
  expect([isCompletionUnrecorded(open), isCompletionUnrecorded(completed(open))]).toEqual([false, true]);
  const first = withPendingCompletion(completed(open), "a");
  expect([isCompletionUnrecorded(first), pendingCompletionBy(first), completionNumber(first)]).toEqual([
    false,
    "a",
    1,
  ]);
  const reported = withCompletionNotified(first);
  expect([isCompletionUnrecorded(reported), pendingCompletionBy(reported)]).toEqual([false, undefined]);
  expect([isReopened(reported), isReopened(opened(reported))]).toEqual([false, true]);
  const again = withReopened(opened(reported));
  expect([isReopened(again), isCompletionUnrecorded(completed(again)), completionNumber(again)]).toEqual([
    false,
    true,
    2,
  ]);
  expect(isCompletionUnrecorded(withCompletionNotified(completed(again)))).toBe(false);
});

test("a task's completion that was reverted before its report gets a new number the next time", () => {
  const back = withReopened(opened(withPendingCompletion(completed(open), "a")));
  expect([
    pendingCompletionBy(completed(back)),
    isCompletionUnrecorded(completed(back)),
    completionNumber(back),
  ]).toEqual([...[undefined, true, 2]]);
});

test("invalid task metadata of other programs counts as missing", () => {
  const odd = { ...completed(open), metadata: { _completion: "x", _assigned: 1 } };
  expect([isCompletionUnrecorded(odd), pendingAssignment(odd)]).toEqual([true, undefined]);
});

test("a task's pending assignment keeps other metadata, and its removal restores the task", () => {
  expect(pendingAssignment(withPendingAssignment(open, "b", "a"))).toMatchObject({ to: "b", by: "a" });
  expect(withoutPendingAssignment(withPendingAssignment(open, "b", "a"))).toEqual(open);
  const rich = { ...open, metadata: { keep: 1 } };
  expect(withoutPendingAssignment(withPendingAssignment(rich, "b", "a"))).toEqual(rich);
});

test("eventMessageId is a UUID, the same for the same parts and different for different parts", () => {
  expect(eventMessageId("a", "b")).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(eventMessageId("a", "b")).toBe(eventMessageId("a", "b"));
  expect(
    new Set([
      eventMessageId("a", "b"),
      eventMessageId("ab"),
      eventMessageId("a", "b", ""),
      eventMessageId("b", "a"),
    ]).size,
  ).toBe(4);
});
