import * as z from "zod/mini";
import { metadata } from "./json.ts";

export const taskStatus = z.enum(["pending", "in_progress", "completed"]);
export type TaskStatus = z.infer<typeof taskStatus>;

/** One file for each task (protocol.md section 5). `metadata._lease` is ours, `metadata._internal` hides it from lists. */
export const task = z.looseObject({
  id: z.string().check(z.regex(/^[1-9][0-9]{0,14}$/)),
  subject: z.string(),
  description: z._default(z.string(), ""),
  activeForm: z.optional(z.string()),
  status: taskStatus,
  owner: z.optional(z.string()),
  blocks: z._default(z.array(z.string()), []),
  blockedBy: z._default(z.array(z.string()), []),
  metadata: z.optional(metadata),
});
export type Task = z.infer<typeof task>;
