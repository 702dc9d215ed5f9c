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
/** One file for each task (protocol.md section 5). `metadata._lease` is ours, `metadata._internal` hides it from lists. */
export const task = nullIsAbsent(fields);
export type Task = z.infer<typeof task>;

/** A task of which its file's name says which it is, whatever number a foreign writer put into it: under this one it is known. */
export function taskNumbered(id: string): z.core.$ZodType<Task> {
  return z.pipe(
    task,
    z.transform((value) => withNumber(value, id)),
  );
}

/** The same of a value that needs no schema. */
export function withNumber(value: Task, id: string): Task {
  return value.id === id ? value : { ...value, id };
}

/** The highest number ever given to a task, as `.highwatermark` says it; undefined for a text that says none. */
export function watermarkOf(text: string): number | undefined {
  return /^\s*[0-9]{1,14}\s*$/.test(text) ? Number(text) : undefined;
}

const STATUSES: ReadonlySet<unknown> = new Set(taskStatus.options);

/**
 * Whether a value is a task that has everything and nothing to be read leniently, so that the schema would give it back as
 * it is: told by hand, since lists are of thousands.
 */
export function isPlainTask(value: unknown): value is Task {
  if (typeof value !== "object" || value === null) return false;
  const {
    id,
    subject,
    description,
    activeForm,
    status,
    owner,
    blocks,
    blockedBy,
    metadata: facts,
  } = value as Task;
  return (
    typeof id === "string" &&
    ID.test(id) &&
    typeof subject === "string" &&
    typeof description === "string" &&
    STATUSES.has(status) &&
    [activeForm, owner].every((text) => text === undefined || typeof text === "string") &&
    [blocks, blockedBy].every(
      (list) => Array.isArray(list) && list.every((one) => typeof one === "string"),
    ) &&
    (facts === undefined || (typeof facts === "object" && facts !== null && !Array.isArray(facts)))
  );
}
