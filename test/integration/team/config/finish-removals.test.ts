import { readdirSync, readlinkSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { finishRemovals } from "../../../../src/team/config/delete-files.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { createTask } from "../../../../src/team/tasks/tasks.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { script } from "../../../support/processes/script-process.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const holdLock = script("store/hold-lock");

/** Starts another process. @returns it, and the record by which its files name it */
async function otherProcess() {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  await holder.line();
  return { holder, record: readlinkSync(`${path}.q`) };
}

/** Creates a team with a task, in the state between the two renames of its removal by a process. */
async function halfRemoved(record: string): Promise<{ ref: TeamRef; renameTasks: () => void }> {
  const ref = await testTeam();
  await createTask(ref, { subject: "s" });
  const trash = `.crew.deleted-${record}`;
  renameSync(ref.paths.dir, join(dirname(ref.paths.dir), trash));
  return { ref, renameTasks: () => renameSync(ref.paths.tasks, join(dirname(ref.paths.tasks), trash)) };
}

/** Returns the names in the directories of all teams and of all task lists. */
const left = ({ paths }: TeamRef): string[] =>
  [paths.dir, paths.tasks].flatMap((path) => readdirSync(dirname(path)));

test("finishRemovals › leaves the tasks to a process that is removing them now", async () => {
  const { record } = await otherProcess();
  const { ref, renameTasks } = await halfRemoved(record);
  let waits = 0;
  finishRemovals(ref, () => {
    waits += 1;
    if (waits === 2) renameTasks();
  });
  expect([waits, left(ref)]).toEqual([2, []]);
});

test("finishRemovals › waits for that process only for a limited time", async () => {
  const { record } = await otherProcess();
  const { ref } = await halfRemoved(record);
  let waitedMs = 0;
  finishRemovals(ref, (ms) => {
    waitedMs += ms;
  });
  expect([waitedMs, left(ref)]).toEqual([1_000, []]);
});

test("finishRemovals › does not wait for a process that was killed", async () => {
  const { holder, record } = await otherProcess();
  const { ref } = await halfRemoved(record);
  holder.child.kill("SIGKILL");
  await holder.ended();
  finishRemovals(ref, () => expect.unreachable("waited for a dead process"));
  expect(left(ref)).toEqual([]);
});
