import * as z from "zod/mini";
import { metadata, nullIsAbsent } from "./zod-helpers.ts";

export const taskStatus = z.enum(["pending", "in_progress", "completed"]);
export type TaskStatus = z.infer<typeof taskStatus>;

const ID = /^[1-9][0-9]{0,14}$/;

const fields = z.looseObject({
  id: z.string().check(z.regex(ID)),
  subject: z.string(),
  description: z._default(z.string(), ""),
  activeForm: z.optional(z.string()),
  status: taskStatus,
  owner: z.optional(z.string()),
  blocks: z._default(z.array(z.string()), []),
  blockedBy: z._default(z.array(z.string()), []),
  metadata: z.optional(metadata),
});
/** The file of a task (protocol.md section 5). `metadata._lease` is ours, `metadata._internal` hides the task from lists. */
export const task = nullIsAbsent(fields);
export type Task = z.infer<typeof task>;

/** Schema of a task whose id comes from its file name, even if another program wrote a different id into the file. */
export function taskNumbered(id: string): z.core.$ZodType<Task> {
  return z.pipe(
    task,
    z.transform((value) => (value.id === id ? value : { ...value, id })),
  );
}

/** Parses `.highwatermark`, the highest task id ever used; undefined if the text is not a number. */
export function watermarkOf(text: string): number | undefined {
  return /^\s*[0-9]{1,14}\s*$/.test(text) ? Number(text) : undefined;
}
