import * as z from "zod/mini";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { listDir, readText } from "../../os/files/fs.ts";
import { type Task, task as taskSchema, watermarkOf } from "../../schema/task.ts";
import { quarantine } from "../../store/quarantine.ts";
import { salvageJson } from "../../store/salvage-json.ts";
import type { TeamRef } from "../ref.ts";
import { raiseWatermark, taskIds } from "../tasks/task-ids.ts";
import { changeTask, findTask, lockTasks } from "../tasks/tasks.ts";
import { type LinkRepair, repairLinks } from "./repair-dependencies.ts";
import { jsonProblem, repairJson } from "./repair-json.ts";

/** Salvages a task's text; undefined if its subject is lost. */
export function salvageTask(text: string, id: string): Task | undefined {
  const value = salvageJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = { status: "pending", ...value, id };
  const wrong = new Set(taskSchema.safeParse(fields).error?.issues.map(({ path }) => path[0]));
  const kept = Object.entries(fields).filter(([key]) => !wrong.has(key));
  // An invalid owner was dropped above, so the task is unassigned.
  const parsed = taskSchema.safeParse({ status: "pending", ...Object.fromEntries(kept) });
  return parsed.success ? parsed.data : undefined;
}

/** Also requires the id to match the file name: a task with two ids could be claimed twice. */
function schemaOf(id: string): z.core.$ZodType<Task> {
  return taskSchema.check(
    z.refine((task) => task.id === id, { path: ["id"], error: "it is the id of another task" }),
  );
}

/** Returns the unreadable tasks, and why. */
export function brokenTasks(ref: TeamRef): { readonly id: string; readonly problem: string }[] {
  return taskIds(ref).flatMap((id) => {
    const problem = jsonProblem(ref.paths.task(id), schemaOf(id));
    return problem === undefined ? [] : [{ id, problem }];
  });
}

/**
 * Repairs a task's file. If it cannot be salvaged, it is quarantined, and its id is never used again.
 * @returns the path of the original; undefined if there is nothing to repair (any more)
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT
 */
export function repairTask(ref: TeamRef, id: string): Promise<string | undefined> {
  const path = ref.paths.task(id);
  return lockTasks(ref, async (held) => {
    const salvage = (text: string): Task | undefined => salvageTask(text, id);
    const repaired = await repairJson(ref, { path, schema: schemaOf(id), salvage });
    if (repaired === "whole") return undefined;
    if (repaired !== "lost") return repaired.original;
    raiseWatermark(ref, id, held);
    held.assertOwned();
    return quarantine(path);
  });
}

/** Returns the repairs that the links between tasks need now. */
export function brokenLinks(ref: TeamRef): LinkRepair[] {
  const ids = taskIds(ref);
  const isBroken = new Set(brokenTasks(ref).map(({ id }) => id));
  const tasks = ids.flatMap((id) => (isBroken.has(id) ? [] : (findTask(ref, id) ?? [])));
  const known = new Set(ids);
  return repairLinks(tasks, (id) => known.has(id));
}

/**
 * Repairs the links between tasks, so that both ends match.
 * @returns the repairs
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT
 */
export function repairTaskLinks(ref: TeamRef): Promise<LinkRepair[]> {
  return lockTasks(ref, async () => {
    const repairs = brokenLinks(ref);
    for (const { id, blocks, blockedBy } of repairs) {
      await changeTask(ref, id, (task) => ({ ...task, blocks: [...blocks], blockedBy: [...blockedBy] }));
    }
    return repairs;
  });
}

/**
 * Returns the value that the watermark should have, if it is too low or unreadable: the highest id of a task that is gone
 * but left a quarantined file. Undefined if the watermark is fine.
 */
export function missingWatermark(ref: TeamRef): number | undefined {
  const text = readText(ref.paths.highWaterMark);
  const mark = text === undefined ? 0 : watermarkOf(text);
  const here = taskIds(ref).map(Number);
  const quarantined = listDir(ref.paths.tasks).flatMap(
    (name) => /^([1-9][0-9]{0,14})\.json\.broken-[0-9]+$/.exec(name)?.[1] ?? [],
  );
  const used = Math.max(0, ...quarantined.map(Number).filter((id) => !here.includes(id)));
  if (mark !== undefined && mark >= used) return undefined;
  return Math.max(used, ...(mark === undefined ? here : []));
}

/** Raises the watermark to {@link missingWatermark}. @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT */
export function repairWatermark(ref: TeamRef): Promise<void> {
  return lockTasks(ref, (held) => {
    const mark = missingWatermark(ref);
    if (mark === undefined) return;
    replaceFile(ref.paths.highWaterMark, String(mark), { beforeRename: () => held.assertOwned() });
  });
}
