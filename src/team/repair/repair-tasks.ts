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

/** What is left of a task's text; undefined when nobody could say what it was about. */
export function salvageTask(text: string, id: string): Task | undefined {
  const value = salvageJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = { status: "pending", ...value, id };
  const wrong = new Set(taskSchema.safeParse(fields).error?.issues.map(({ path }) => path[0]));
  const kept = Object.entries(fields).filter(([key]) => !wrong.has(key));
  // Of a task that may be anybody's, nobody is the owner.
  const parsed = taskSchema.safeParse({ status: "pending", ...Object.fromEntries(kept) });
  return parsed.success ? parsed.data : undefined;
}

/** A task whose file is named after another could be had under two numbers, and claimed twice. */
function schemaOf(id: string): z.core.$ZodType<Task> {
  return taskSchema.check(
    z.refine((task) => task.id === id, { path: ["id"], error: "it is another task's number" }),
  );
}

/** The tasks that cannot be read, and why. */
export function brokenTasks(ref: TeamRef): { readonly id: string; readonly flaw: string }[] {
  return taskIds(ref).flatMap((id) => {
    const flaw = jsonProblem(ref.paths.task(id), schemaOf(id));
    return flaw === undefined ? [] : [{ id, flaw }];
  });
}

/**
 * Mends a task's file; one of which nothing can be saved is set aside, and its number never used again.
 * @returns where the original is; undefined when there is nothing to mend (any more)
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

/** What is wrong with the links between tasks, as the files are now. */
export function brokenLinks(ref: TeamRef): LinkRepair[] {
  const ids = taskIds(ref);
  const isBroken = new Set(brokenTasks(ref).map(({ id }) => id));
  const tasks = ids.flatMap((id) => (isBroken.has(id) ? [] : (findTask(ref, id) ?? [])));
  const known = new Set(ids);
  return repairLinks(tasks, (id) => known.has(id));
}

/**
 * Brings both ends of all links in step.
 * @returns what was mended
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
 * The highest number that a task's file had, as far as can be seen, where the watermark does not hold it: a task set aside
 * by a program that knows no watermark, or a watermark that cannot be read. Undefined when all is well.
 */
export function missingWatermark(ref: TeamRef): number | undefined {
  const text = readText(ref.paths.highWaterMark);
  const mark = text === undefined ? 0 : watermarkOf(text);
  const here = taskIds(ref).map(Number);
  const aside = listDir(ref.paths.tasks).flatMap(
    (name) => /^([1-9][0-9]{0,14})\.json\.broken-[0-9]+$/.exec(name)?.[1] ?? [],
  );
  const used = Math.max(0, ...aside.map(Number).filter((id) => !here.includes(id)));
  if (mark !== undefined && mark >= used) return undefined;
  return Math.max(used, ...(mark === undefined ? here : []));
}

/** @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT */
export function repairWatermark(ref: TeamRef): Promise<void> {
  return lockTasks(ref, (held) => {
    const mark = missingWatermark(ref);
    if (mark === undefined) return;
    replaceFile(ref.paths.highWaterMark, String(mark), { beforeRename: () => held.assertOwned() });
  });
}
