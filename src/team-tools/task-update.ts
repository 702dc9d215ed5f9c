import * as z from "zod/mini";
import { defined } from "../schema/defined.ts";
import type { Task } from "../schema/task.ts";
import { updateTask } from "../team/tasks/update-task.ts";
import {
  jsonResult,
  type MemberTool,
  type MemberToolContext,
  TEAM_ACCESS,
  taskGateOf,
  withRefusals,
} from "./context.ts";
import {
  anyTaskId,
  taskIdInput as id,
  metadataInput,
  publicTask,
  reviewerInput,
  touchesInput,
} from "./task-schema.ts";

const input = z.object({
  taskId: id,
  status: z
    .optional(z.enum(["pending", "in_progress", "completed", "deleted"]))
    .check(z.describe("Its new state; deleted removes it")),
  owner: z.optional(z.string()).check(z.describe("A member's name; an empty string unassigns the task")),
  subject: z.optional(z.string().check(z.minLength(1))).check(z.describe("A new subject")),
  description: z.optional(z.string()).check(z.describe("A new description")),
  activeForm: z
    .optional(z.string())
    .check(z.describe("The owner's activity, for its status: “Counting files”")),
  addBlocks: z.optional(z.array(anyTaskId)).check(z.describe("Tasks that wait for this one")),
  addBlockedBy: z.optional(z.array(anyTaskId)).check(z.describe("Tasks that this one waits for")),
  reviewer: reviewerInput,
  touches: touchesInput,
  metadata: z
    .optional(metadataInput)
    .check(z.describe("Merged into the existing metadata; null removes a key")),
});

export const taskUpdate: MemberTool = (tools) => ({
  name: "TaskUpdate",
  description:
    "Changes a task: claim it (owner = your name, status in_progress), complete it (its verify command runs first, if it has one), assign it to another member, add dependencies or metadata.",
  input: input,
  access: () => TEAM_ACCESS,
  summary: ({ taskId, status, owner, addBlockedBy = [], addBlocks = [] }: z.infer<typeof input>) =>
    [
      `#${taskId}`,
      ...(status ? [status] : []),
      ...(owner ? [`→ ${owner}`] : []),
      ...(addBlockedBy.length === 0 ? [] : [`after ${numbers(addBlockedBy)}`]),
      ...(addBlocks.length === 0 ? [] : [`before ${numbers(addBlocks)}`]),
    ].join(" "),
  execute: ({ taskId, ...change }: z.infer<typeof input>, context) =>
    withRefusals(async () => {
      const { ctx } = tools;
      const gate = taskGateOf(tools, context);
      const task = await updateTask(ctx.ref, ctx.actor, taskId, defined(change), ctx.clock, gate);
      recordHeldTask(tools, taskId, task);
      if (change.status === "completed" && task?.owner === ctx.actor)
        tools.worker.workSinceIdle.addCompletedTask(taskId);
      const state = task === undefined ? { id: taskId, status: "deleted" } : publicTask(ctx.ref, task);
      return jsonResult({ success: true, task: state }, displayOf(taskId, task));
    }),
});

function recordHeldTask({ worker }: MemberToolContext, taskId: string, task: Task | undefined): void {
  worker.setTaskHeld(
    taskId,
    task !== undefined && task.owner === worker.name && task.status === "in_progress",
  );
}

function displayOf(taskId: string, task: Task | undefined): string {
  if (task === undefined) return `#${taskId} is deleted.`;
  const waits = task.status === "pending" && task.blockedBy.length > 0;
  const after = waits ? `, after ${task.blockedBy.map((id) => `#${id}`).join(" ")}` : "";
  return `#${taskId} ${task.subject}: ${task.status}${after}`;
}

function numbers(ids: readonly string[]): string {
  return ids.map((id) => `#${id}`).join(" ");
}
