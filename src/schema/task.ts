import * as z from "zod";
import { metadata } from "./json.ts";

export const taskStatus = z.enum(["pending", "in_progress", "completed"]);
export type TaskStatus = z.infer<typeof taskStatus>;

/** One file for each task (protocol.md section 5). `metadata._lease` is ours, `metadata._internal` hides it from lists. */
export const task = z.looseObject({
  id: z.string().regex(/^[1-9][0-9]{0,14}$/),
  subject: z.string(),
  description: z.string().default(""),
  activeForm: z.string().optional(),
  status: taskStatus,
  owner: z.string().optional(),
  blocks: z.array(z.string()).default([]),
  blockedBy: z.array(z.string()).default([]),
  metadata: metadata.optional(),
});
export type Task = z.infer<typeof task>;
