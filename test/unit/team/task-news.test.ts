import { expect, test } from "vitest";
import type { Task } from "../../../src/schema/task.ts";
import { eventId } from "../../../src/team/event-id.ts";
import {
  assignmentOf,
  completionOf,
  isReopened,
  isUntold,
  withAssignment,
  withoutAssignment,
  withReopened,
  withTold,
} from "../../../src/team/task-news.ts";

const open: Task = { id: "1", subject: "", description: "", status: "pending", blocks: [], blockedBy: [] };
const completed = (task: Task): Task => ({ ...task, status: "completed" });
const opened = (task: Task): Task => ({ ...task, status: "pending" });

test("each completion is told once, and counted", () => {
  expect(isUntold(open)).toBe(false);
  const first = withTold(completed(open));
  expect([isUntold(completed(open)), isUntold(first), completionOf(first)]).toEqual([true, false, 1]);
  expect([isReopened(first), isReopened(opened(first))]).toEqual([false, true]);
  const again = withReopened(opened(first));
  expect([isReopened(again), isUntold(completed(again)), completionOf(again)]).toEqual([false, true, 2]);
  expect(isUntold(withTold(completed(again)))).toBe(false);
});

test("marks that are none of ours count as none", () => {
  const odd = { ...completed(open), metadata: { _completion: "x", _assigned: 1 } };
  expect([isUntold(odd), assignmentOf(odd)]).toEqual([true, undefined]);
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
