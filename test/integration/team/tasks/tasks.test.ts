import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { linkTasks } from "../../../../src/team/tasks/dependencies.ts";
import {
  changeTask,
  createTask,
  deleteTask,
  getTask,
  isBlocked,
  listTasks,
  reserveTaskId,
} from "../../../../src/team/tasks/tasks.ts";
import { unassignTasks, unfinishedTasks } from "../../../../src/team/tasks/unassign.ts";
import { deadProcess } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

test("createTask › writes a file in the shared format, under the next number", async () => {
  const ref = await testTeam();
  await createTask(ref, { subject: "one" });
  await createTask(ref, {
    subject: "two",
    description: "d",
    activeForm: "Doing",
    blockedBy: ["1"],
    metadata: { p: 1 },
  });
  expect(JSON.parse(readFileSync(ref.paths.task("2"), "utf8"))).toEqual({
    id: "2",
    subject: "two",
    description: "d",
    activeForm: "Doing",
    status: "pending",
    blocks: [],
    blockedBy: ["1"],
    metadata: { p: 1 },
  });
  expect(getTask(ref, "1").blocks).toEqual(["2"]);
});

test("createTask › gives concurrent tasks different numbers", async () => {
  const ref = await testTeam();
  const tasks = await Promise.all(
    Array.from({ length: 12 }, (_, i) => createTask(ref, { subject: String(i) })),
  );
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(12);
});

test("createTask › never reuses a number, even of the highest deleted task", async () => {
  const ref = await testTeam();
  await createTask(ref, { subject: "one" });
  await createTask(ref, { subject: "two" });
  await deleteTask(ref, "2");
  expect(readFileSync(ref.paths.highWaterMark, "utf8")).toBe("2");
  expect((await createTask(ref, { subject: "three" })).id).toBe("3");
});

test("createTask › keeps a task that was written by hand under the reserved number", async () => {
  const ref = await testTeam();
  const reserved = await reserveTaskId(ref);
  writeFileSync(ref.paths.task(reserved), JSON.stringify({ id: "1", subject: "by hand", status: "pending" }));
  expect((await createTask(ref, { subject: "mine" }, { reserved })).id).toBe("2");
  expect(listTasks(ref).map(({ id, subject }) => [id, subject])).toEqual([
    ["1", "by hand"],
    ["2", "mine"],
  ]);
});

test("createTask › refuses a number that no file may have, and names the file to rename", async () => {
  const ref = await testTeam();
  const highest = ref.paths.task("9".repeat(15));
  writeFileSync(highest, JSON.stringify({ id: "1", subject: "by hand", status: "pending" }));
  await expect(createTask(ref, { subject: "mine" })).rejects.toMatchObject({
    code: "CORRUPT_FILE",
    message: expect.stringContaining(highest),
  });
  expect(listTasks(ref).map(({ subject }) => subject)).toEqual(["by hand"]);
});

test("createTask › refuses an unknown blocker, and creates nothing", async () => {
  const ref = await testTeam();
  await expect(createTask(ref, { subject: "x", blockedBy: ["9"] })).rejects.toMatchObject({
    code: "TASK_NOT_FOUND",
  });
  expect(listTasks(ref)).toEqual([]);
});

test("listTasks › sorts by number, hides internal tasks and skips unreadable ones", async () => {
  const ref = await testTeam();
  for (let i = 0; i < 11; i += 1) await createTask(ref, { subject: String(i) });
  await changeTask(ref, "3", (task) => ({ ...task, metadata: { _internal: true } }));
  writeFileSync(ref.paths.task("5"), "{");
  const problems: string[] = [];
  const ids = listTasks(ref, ({ code }) => problems.push(code)).map(({ id }) => id);
  expect(ids).toEqual(["1", "2", "4", "6", "7", "8", "9", "10", "11"]);
  expect(problems).toEqual(["CORRUPT_FILE"]);
});

test("tasks › use the number of their file, whatever their content says", async () => {
  const ref = await testTeam();
  writeFileSync(ref.paths.task("5"), JSON.stringify({ id: "7", subject: "s", status: "pending" }));
  const plain = { id: "8", subject: "t", description: "", status: "pending", blocks: [], blockedBy: [] };
  writeFileSync(ref.paths.task("6"), JSON.stringify(plain));
  expect(listTasks(ref).map(({ id, subject }) => [id, subject])).toEqual([
    ["5", "s"],
    ["6", "t"],
  ]);
  expect(() => getTask(ref, "7")).toThrow(expect.objectContaining({ code: "TASK_NOT_FOUND" }));
  expect(getTask(ref, "5").id).toBe("5");
  await changeTask(ref, "5", (task) => ({ ...task, owner: "a" }));
  expect(JSON.parse(readFileSync(ref.paths.task("5"), "utf8"))).toMatchObject({ id: "5", owner: "a" });
  expect((await createTask(ref, { subject: "next" })).id).toBe("7");
});

test.each([["99"], ["0"], ["../../teams/crew/config"], [""]])(
  "getTask and changeTask › report TASK_NOT_FOUND for %j",
  async (id) => {
    const ref = await testTeam();
    expect(() => getTask(ref, id)).toThrow(expect.objectContaining({ code: "TASK_NOT_FOUND" }));
    await expect(changeTask(ref, id, (task) => task)).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
    expect(readdirSync(ref.paths.tasks)).toEqual([".lock"]);
  },
);

test("linkTasks › records a link once at both ends", async () => {
  const ref = await testTeam();
  for (const subject of ["1", "2", "3"]) await createTask(ref, { subject });
  await linkTasks(ref, { id: "2", addBlockedBy: ["1"], addBlocks: ["3"] });
  await linkTasks(ref, { id: "2", addBlockedBy: ["1"] });
  expect(listTasks(ref).map(({ blocks, blockedBy }) => [blocks, blockedBy])).toEqual([
    [["2"], []],
    [["3"], ["1"]],
    [[], ["2"]],
  ]);
});

test("linkTasks › refuses cycles of any length, and links nothing (S58)", async () => {
  const ref = await testTeam();
  for (const subject of ["1", "2", "3", "4"]) await createTask(ref, { subject });
  await linkTasks(ref, { id: "2", addBlockedBy: ["1"] });
  await linkTasks(ref, { id: "3", addBlockedBy: ["2"] });
  const before = JSON.stringify(listTasks(ref));
  for (const link of [
    { id: "1", addBlockedBy: ["3"] },
    { id: "3", addBlocks: ["1"] },
    { id: "4", addBlockedBy: ["3"], addBlocks: ["1"] },
    { id: "4", addBlockedBy: ["4"] },
    { id: "4", addBlocks: ["4"] },
  ]) {
    await expect(linkTasks(ref, link)).rejects.toMatchObject({ code: "CYCLE" });
  }
  await expect(linkTasks(ref, { id: "4", addBlocks: ["9"] })).rejects.toMatchObject({
    code: "TASK_NOT_FOUND",
  });
  expect(JSON.stringify(listTasks(ref))).toBe(before);
});

test("linkTasks › refuses one of three concurrent links that would form a cycle (S58)", async () => {
  const ref = await testTeam();
  for (const subject of ["1", "2", "3"]) await createTask(ref, { subject });
  const made = await Promise.allSettled([
    linkTasks(ref, { id: "1", addBlockedBy: ["3"] }),
    linkTasks(ref, { id: "2", addBlockedBy: ["1"] }),
    linkTasks(ref, { id: "3", addBlockedBy: ["2"] }),
  ]);
  expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "fulfilled", "rejected"]);
});

test("deleteTask › removes the task from others' links, so it blocks no task", async () => {
  const ref = await testTeam();
  await createTask(ref, { subject: "1" });
  await createTask(ref, { subject: "2", blockedBy: ["1"] });
  expect(isBlocked(getTask(ref, "2"), (id) => getTask(ref, id))).toBe(true);
  await deleteTask(ref, "1");
  expect(existsSync(ref.paths.task("1"))).toBe(false);
  expect(getTask(ref, "2").blockedBy).toEqual([]);
});

test("isBlocked › ignores a blocker whose file is gone", async () => {
  const ref = await testTeam();
  await createTask(ref, { subject: "1" });
  await createTask(ref, { subject: "2", blockedBy: ["1"] });
  rmSync(ref.paths.task("1"));
  expect(isBlocked(getTask(ref, "2"), () => undefined)).toBe(false);
});

test("unassigning › frees exactly the unfinished tasks of an agent (S55)", async () => {
  const ref = await testTeam();
  for (const owner of ["writer", "writer", "writer", "writer-2", "writer@crew", "writer"]) {
    await createTask(ref, { subject: owner, owner });
  }
  const ended = deadProcess();
  await changeTask(ref, "1", (task) => ({ ...task, status: "completed" }));
  await changeTask(ref, "2", (task) => ({
    ...task,
    status: "in_progress",
    metadata: { _lease: ended, keep: 1 },
  }));
  const tasks = unfinishedTasks(ref).get("writer") ?? [];
  expect(tasks).toEqual(["2", "3", "5", "6"]);
  // The current holder of the name has started this task.
  await changeTask(ref, "6", (task) => ({ ...task, metadata: { _lease: ownIdentity() } }));
  for (const _attempt of ["first", "second"]) {
    const free = await unassignTasks(ref, { name: "writer", tasks: [...tasks, "99"], process: ended });
    expect(free.map(({ id }) => id)).toEqual(["2", "3", "5"]);
  }
  expect(listTasks(ref).map(({ owner, status }) => [owner, status])).toEqual([
    ["writer", "completed"],
    [undefined, "pending"],
    [undefined, "pending"],
    ["writer-2", "pending"],
    [undefined, "pending"],
    ["writer", "pending"],
  ]);
  expect(getTask(ref, "2").metadata).toEqual({ keep: 1 });
});

test("unassigning › frees tasks of an ended agent whose process still runs", async () => {
  const ref = await testTeam();
  await createTask(ref, { subject: "x", owner: "writer", metadata: { keep: 1 } });
  await changeTask(ref, "1", (task) => ({ ...task, metadata: { _lease: ownIdentity() } }));
  const ended = { name: "writer", tasks: ["1"], process: ownIdentity() };
  expect(await unassignTasks(ref, ended)).toMatchObject([{ id: "1" }]);
});
