import * as z from "zod";
import { defined } from "../schema/defined.ts";
import type { Task } from "../schema/task.ts";
import { updateTask } from "../team/task-flow.ts";
import { answer, refusing, TEAM_ACCESS, type TeamTool, type TeamToolContext } from "./context.ts";
import { extra, taskId as id, shown } from "./task-shape.ts";

const input = z.object({
  taskId: id,
  status: z.enum(["pending", "in_progress", "completed", "deleted"]).optional(),
  owner: z.string().optional().describe("A member's name; an empty one takes the owner away"),
  subject: z.string().min(1).optional(),
  description: z.string().optional(),
  activeForm: z.string().optional(),
  addBlocks: z.array(z.coerce.string()).optional().describe("Tasks that wait for this one"),
  addBlockedBy: z.array(z.coerce.string()).optional().describe("Tasks that this one waits for"),
  metadata: extra.optional().describe("Merged into what is there; null takes a key away"),
});

export const taskUpdate: TeamTool = (tools) => ({
  name: "TaskUpdate",
  description:
    "Changes a task: claim it (owner = your name, status in_progress), complete it, give it to another, add dependencies or facts.",
  input: input,
  access: () => TEAM_ACCESS,
  summary: ({ taskId, status, owner }: z.infer<typeof input>) =>
    [`#${taskId}`, ...(status ? [status] : []), ...(owner ? [`→ ${owner}`] : [])].join(" "),
  execute: ({ taskId, ...change }: z.infer<typeof input>) =>
    refusing(async () => {
      const { ctx } = tools;
      const task = await updateTask(ctx.ref, ctx.actor, taskId, defined(change));
      noteHeld(tools, taskId, task);
      const state = task === undefined ? { id: taskId, status: "deleted" } : shown(task);
      return answer({ success: true, task: state }, displayOf(taskId, task));
    }),
});

function noteHeld({ worker }: TeamToolContext, taskId: string, task: Task | undefined): void {
  worker.holds(taskId, task !== undefined && task.owner === worker.name && task.status === "in_progress");
}

function displayOf(taskId: string, task: Task | undefined): string {
  if (task === undefined) return `#${taskId} is deleted.`;
  const waits = task.status === "pending" && task.blockedBy.length > 0;
  const after = waits ? `, after ${task.blockedBy.map((id) => `#${id}`).join(" ")}` : "";
  return `#${taskId} ${task.subject}: ${task.status}${after}`;
}
