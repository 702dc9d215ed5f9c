import { expect, test } from "vitest";
import type { Task } from "../../../../src/schema/task.ts";
import { repairLinks } from "../../../../src/team/repair/repair-dependencies.ts";

function task(id: string, blockedBy: string[] = [], blocks: string[] = []): Task {
  return { id, subject: id, description: "", status: "pending", blocks, blockedBy };
}

/** Lists the links after the repair: `1 > 2` means that 1 blocks 2, `2 < 1` that 2 waits for 1. */
function repaired(tasks: readonly Task[], exists?: (id: string) => boolean): string[] {
  const repairs = new Map(repairLinks(tasks, exists).map((repair) => [repair.id, repair]));
  return tasks.flatMap((one) => {
    const { id, blocks, blockedBy } = repairs.get(one.id) ?? one;
    return [...blocks.map((to) => `${id} > ${to}`), ...blockedBy.map((from) => `${id} < ${from}`)];
  });
}

test("repairLinks changes neither consistent links nor cycles, since a user must decide which link is wrong", () => {
  expect(repairLinks([task("1", [], ["2"]), task("2", ["1"])])).toEqual([]);
  expect(repairLinks([task("1", ["2"], ["2"]), task("2", ["1"], ["1"])])).toEqual([]);
});

test("repairLinks adds the missing other end of a link", () => {
  expect(repaired([task("1"), task("2", ["1"])])).toEqual(["1 > 2", "2 < 1"]);
  expect(repaired([task("1", [], ["2"]), task("2")])).toEqual(["1 > 2", "2 < 1"]);
  expect(repairLinks([task("1"), task("2", ["1"])])).toMatchObject([
    { id: "1", problems: ["#1 did not name #2, which waits for it"] },
  ]);
});

test("repairLinks drops a one-sided link that would close a cycle", () => {
  const tasks = [task("1", [], ["2"]), task("2", ["1"], ["3"]), task("3", ["2"], ["1"])];
  expect(repaired(tasks)).toEqual(["1 > 2", "2 > 3", "2 < 1", "3 < 2"]);
});

test("repairLinks drops links to missing tasks and keeps links to unreadable tasks", () => {
  const tasks = [task("1", ["8"], ["9"])];
  expect(repaired(tasks)).toEqual([]);
  expect(repaired(tasks, (id) => id === "8")).toEqual(["1 < 8"]);
});

test("repairLinks drops a link from a task to itself", () => {
  expect(repaired([task("1", ["1"], ["1"])])).toEqual([]);
});

test("repairLinks is idempotent", () => {
  const tasks = [task("1", ["3", "1"], ["2", "7"]), task("2", [], ["3"]), task("3", ["9"], [])];
  const fixed = repairLinks(tasks).reduce(
    (all, { id, blocks, blockedBy }) =>
      all.map((one) => (one.id === id ? task(id, [...blockedBy], [...blocks]) : one)),
    tasks,
  );
  expect(repairLinks(fixed)).toEqual([]);
});
