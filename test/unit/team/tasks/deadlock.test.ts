import { expect, test } from "vitest";
import type { Task } from "../../../../src/schema/task.ts";
import { deadlockOf, deadlockSentence } from "../../../../src/team/tasks/deadlock.ts";

function task(id: string, blockedBy: string[] = [], more: Partial<Task> = {}): Task {
  return { id, subject: id, description: "", status: "pending", blocks: [], blockedBy, ...more };
}

const living = (owner: string): boolean => owner !== "dead";
const found = (...tasks: Task[]): unknown => deadlockOf(tasks, living) ?? "goes on";
const active = { status: "in_progress", owner: "ada" } as const;

test.each<[string, Task[]]>([
  ["there is nothing to do", []],
  ["everything is done", [task("1", [], { status: "completed", owner: "dead" })]],
  ["a task is free", [task("1"), task("2", ["3"]), task("3", ["2"])]],
  ["somebody works, though behind a blocker that came later", [task("1", ["2"], active), task("2", ["1"])]],
  ["somebody living has a task that waits for nothing", [task("1", [], { owner: "ada" })]],
  ["what it waits for is missing", [task("1", ["9"])]],
  ["what it waits for is done", [task("1", ["2"]), task("2", [], { status: "completed" })]],
])("a team goes on where %s", (_title, tasks) => {
  expect(found(...tasks)).toBe("goes on");
});

test("a circle is named in the order of waiting, without what only hangs on it", () => {
  const hanging = task("1", ["2"]);
  expect(found(hanging, task("2", ["4"]), task("4", ["3"]), task("3", ["2"]))).toEqual({
    kind: "cycle",
    tasks: ["2", "4", "3"],
  });
  expect(found(task("1", ["1"]))).toEqual({ kind: "cycle", tasks: ["1"] });
});

test("an owner that will not come is named with all that it keeps", () => {
  const his = { owner: "dead" };
  const tasks = [task("1", [], his), task("2", ["1"]), task("3", [], { ...his, status: "in_progress" })];
  expect(found(...tasks, task("4", ["1"], his))).toEqual({
    kind: "dead-owner",
    owner: "dead",
    tasks: ["1", "3"],
  });
});

test("an owner is known by the name in its id", () => {
  expect(found(task("1", [], { owner: "dead@crew" }))).toMatchObject({ owner: "dead" });
});

test("the report is a sentence", () => {
  const said = (...tasks: string[]): string => deadlockSentence({ kind: "cycle", tasks });
  expect(said("1")).toBe("#1 waits for itself");
  expect(said("1", "2", "3")).toBe("#1 waits for #2, #2 for #3, #3 for #1");
  expect(deadlockSentence({ kind: "dead-owner", owner: "ghost", tasks: ["1"], isStranger: true })).toBe(
    "#1 belongs to ghost, who is not in this team",
  );
  expect(deadlockSentence({ kind: "dead-owner", owner: "ada", tasks: ["1", "3"] })).toBe(
    "#1, #3 belong to ada, who has ended",
  );
});

test("ten thousand tasks in a row behind a circle take no time that anybody sees", () => {
  const row = Array.from({ length: 10_000 }, (_, i) => task(String(i + 1), [String(i + 2)]));
  expect(found(...row, task("10001", ["10001"]))).toEqual({ kind: "cycle", tasks: ["10001"] });
});
