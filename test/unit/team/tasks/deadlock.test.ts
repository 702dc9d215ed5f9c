import { expect, test } from "vitest";
import type { Task } from "../../../../src/schema/task.ts";
import { deadlockSentence, findDeadlock } from "../../../../src/team/tasks/deadlock.ts";

function task(id: string, blockedBy: string[] = [], more: Partial<Task> = {}): Task {
  return { id, subject: id, description: "", status: "pending", blocks: [], blockedBy, ...more };
}

const living = (owner: string): boolean => owner !== "dead";
const found = (...tasks: Task[]): unknown => findDeadlock(tasks, living) ?? "can continue";
const active = { status: "in_progress", owner: "ada" } as const;

test.each<[string, Task[]]>([
  ["there are no tasks", []],
  ["all tasks are completed", [task("1", [], { status: "completed", owner: "dead" })]],
  ["a task is unassigned and unblocked", [task("1"), task("2", ["3"]), task("3", ["2"])]],
  ["a task was started before its blocker was added", [task("1", ["2"], active), task("2", ["1"])]],
  ["a living owner has an unblocked task", [task("1", [], { owner: "ada" })]],
  ["a blocker is missing", [task("1", ["9"])]],
  ["the blocker is completed", [task("1", ["2"]), task("2", [], { status: "completed" })]],
])("findDeadlock reports nothing if %s", (_title, tasks) => {
  expect(found(...tasks)).toBe("can continue");
});

test("findDeadlock names the tasks of a cycle in order, without tasks that only wait for it", () => {
  const hanging = task("1", ["2"]);
  expect(found(hanging, task("2", ["4"]), task("4", ["3"]), task("3", ["2"]))).toEqual({
    kind: "cycle",
    tasks: ["2", "4", "3"],
  });
  expect(found(task("1", ["1"]))).toEqual({ kind: "cycle", tasks: ["1"] });
});

test("findDeadlock names a dead owner and all its unblocked tasks", () => {
  const deadOwner = { owner: "dead" };
  const tasks = [
    task("1", [], deadOwner),
    task("2", ["1"]),
    task("3", [], { ...deadOwner, status: "in_progress" }),
  ];
  expect(found(...tasks, task("4", ["1"], deadOwner))).toEqual({
    kind: "dead-owner",
    owner: "dead",
    tasks: ["1", "3"],
  });
});

test("findDeadlock recognises an owner by the name in its agent id", () => {
  expect(found(task("1", [], { owner: "dead@crew" }))).toMatchObject({ owner: "dead" });
});

test("deadlockSentence describes the deadlock", () => {
  const sentence = (...tasks: string[]): string => deadlockSentence({ kind: "cycle", tasks });
  expect(sentence("1")).toBe("#1 waits for itself");
  expect(sentence("1", "2", "3")).toBe("#1 waits for #2, #2 for #3, #3 for #1");
  expect(deadlockSentence({ kind: "dead-owner", owner: "ghost", tasks: ["1"], isStranger: true })).toBe(
    "#1 belongs to ghost, who is not in this team",
  );
  expect(deadlockSentence({ kind: "dead-owner", owner: "ada", tasks: ["1", "3"] })).toBe(
    "#1, #3 belong to ada, who has ended",
  );
});

test("findDeadlock handles ten thousand tasks that wait for a cycle", () => {
  const row = Array.from({ length: 10_000 }, (_, i) => task(String(i + 1), [String(i + 2)]));
  expect(found(...row, task("10001", ["10001"]))).toEqual({ kind: "cycle", tasks: ["10001"] });
});
