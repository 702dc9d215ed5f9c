import * as z from "zod/mini";
import { visibleMetadata } from "../schema/guards/visible-metadata.ts";
import type { Task } from "../schema/task.ts";

/** A task's id as a model writes it: a string or a number. */
export const taskIdInput = z.coerce.string().check(z.describe("The task's id"));
/** Facts that are kept with a task. */
export const metadataInput = z.record(z.string(), z.unknown());

/** Returns a task without this program's private metadata (keys that begin with `_`). */
export function publicTask(task: Task): Record<string, unknown> {
  const { metadata, ...rest } = task;
  return { ...rest, metadata: visibleMetadata(metadata) };
}
