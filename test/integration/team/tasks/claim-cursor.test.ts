import fs, { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { expect, test } from "vitest";
import { formatJson } from "../../../../src/os/files/atomic-write.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { raiseClaimCursor } from "../../../../src/team/tasks/claim-cursor.ts";
import { claimTask } from "../../../../src/team/tasks/claim-task.ts";
import { createTask, getTask, readableTask } from "../../../../src/team/tasks/tasks.ts";
import { unassignTasks } from "../../../../src/team/tasks/unassign.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { script } from "../../../support/processes/script-process.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const holdLock = script("store/hold-lock");
const LEAD = "team-lead";

/** Creates a team with this many tasks; the first `completed` of them are completed. */
async function teamWith(tasks: number, completed: number): Promise<TeamRef> {
  const ref = await testTeam(["a", "b"]);
  for (let id = 1; id <= tasks; id += 1) {
    const task = { id: String(id), subject: `task ${id}`, description: "", blocks: [], blockedBy: [] };
    const status = id <= completed ? "completed" : "pending";
    writeFileSync(ref.paths.task(task.id), formatJson({ ...task, status }));
  }
  return ref;
}

/** Returns the task files that `work` reads, and "all" if it lists the directory. */
async function filesRead(ref: TeamRef, work: () => Promise<unknown>): Promise<Set<string>> {
  const { readFileSync, readdirSync } = fs;
  const read = new Set<string>();
  const note = (path: unknown): void => {
    if (String(path).startsWith(ref.paths.tasks)) read.add(String(path).slice(ref.paths.tasks.length + 1));
  };
  Object.assign(fs, {
    readFileSync: (...args: Parameters<typeof readFileSync>) => {
      note(args[0]);
      return readFileSync(...args);
    },
    readdirSync: (...args: Parameters<typeof readdirSync>) => {
      note(`${args[0]}/all`);
      return readdirSync(...args);
    },
  });
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    Object.assign(fs, { readFileSync, readdirSync });
    syncBuiltinESMExports();
  }
  return read;
}

test("task operations › read only the files they need, in a list of any length", async () => {
  const ref = await teamWith(2_000, 1_000);
  await claimTask(ref, "a", undefined);
  const reads = async (work: () => Promise<unknown>): Promise<string[]> =>
    [...(await filesRead(ref, work))].filter((name) => name.endsWith(".json") || name === "all").sort();
  expect(await reads(() => claimTask(ref, "b", undefined))).toEqual(["1001.json", "1002.json"]);
  expect(await reads(() => claimTask(ref, "b", "1500"))).toEqual(["1500.json"]);
  expect(await reads(() => updateTask(ref, "b", "1500", { status: "completed" }))).toEqual(["1500.json"]);
  expect(await reads(() => updateTask(ref, LEAD, "1600", { addBlockedBy: ["1700"] }))).toEqual([
    ...["1600.json", "1700.json"],
  ]);
  expect(await reads(() => updateTask(ref, LEAD, "1700", { status: "completed" }))).toEqual([
    ...["1600.json", "1700.json"],
  ]);
  expect(await reads(async () => getTask(ref, "1234"))).toEqual(["1234.json"]);
  expect(await reads(() => addTask(ref, LEAD, { subject: "new", blockedBy: ["1600"] }))).toEqual([
    ...["1600.json", "2001.json", "all"],
  ]);
});

test("claim cursor › a reopened task below the cursor is claimed first", async () => {
  const ref = await teamWith(100, 90);
  expect((await claimTask(ref, "a", undefined)).id).toBe("91");
  expect(fs.readFileSync(ref.paths.claimCursor, "utf8")).toBe("91");
  await updateTask(ref, LEAD, "7", { status: "pending" });
  expect((await claimTask(ref, "a", undefined)).id).toBe("7");
  expect((await claimTask(ref, "a", undefined)).id).toBe("92");
});

test("claim cursor › stops at a task that was reopened during the scan", async () => {
  const ref = await teamWith(100, 90);
  await updateTask(ref, LEAD, "50", { status: "pending" });
  await raiseClaimCursor(ref, 91, (id) => readableTask(ref, String(id)));
  expect(fs.readFileSync(ref.paths.claimCursor, "utf8")).toBe("50");
});

test("claim cursor › a claim does not wait for the cursor's lock", async () => {
  const ref = await teamWith(100, 90);
  const holder = holdLock(ref.paths.claimCursor);
  expect(await holder.line()).toBe("held 1");
  expect((await claimTask(ref, "a", undefined)).id).toBe("91");
  holder.say("go on");
  expect(await holder.line()).toBe("done 1");
});

test("claim cursor › a task reopened by another program is found if no other is free", async () => {
  const ref = await teamWith(60, 59);
  expect((await claimTask(ref, "a", undefined)).id).toBe("60");
  writeFileSync(ref.paths.task("7"), JSON.stringify({ ...getTask(ref, "7"), status: "pending" }));
  expect((await claimTask(ref, "b", undefined)).id).toBe("7");
  await expect(claimTask(ref, "b", undefined)).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
});

test("claim cursor › unassigned and new tasks are found", async () => {
  const ref = await teamWith(50, 40);
  for (let id = 41; id <= 50; id += 1) expect((await claimTask(ref, "a", undefined)).id).toBe(String(id));
  await unassignTasks(ref, { name: "a", tasks: ["45"] });
  expect((await claimTask(ref, "b", undefined)).id).toBe("45");
  const { id } = await createTask(ref, { subject: "new" });
  expect((await claimTask(ref, "b", undefined)).id).toBe(id);
});

test.each(["", "no number", "-3", "1e9", "4000"])(
  "claim cursor › a cursor file with %j does no harm",
  async (mark) => {
    const ref = await teamWith(5, 2);
    writeFileSync(ref.paths.claimCursor, mark);
    expect((await claimTask(ref, "a", undefined)).id).toBe("3");
  },
);

test("claim cursor › an unreadable task is skipped", async () => {
  const ref = await teamWith(5, 0);
  writeFileSync(ref.paths.task("1"), "{");
  expect((await claimTask(ref, "a", undefined)).id).toBe("2");
});
