import * as z from "zod/mini";
import { getTask } from "../team/tasks/tasks.ts";
import { jsonResult, type MemberTool, TEAM_ACCESS, withRefusals } from "./context.ts";
import { taskIdInput as id, publicTask } from "./task-schema.ts";

const input = z.object({ taskId: id });

export const taskGet: MemberTool = ({ ctx }) => ({
  name: "TaskGet",
  description: "Reads one task in full; its blockedBy includes completed blockers.",
  input: input,
  access: () => TEAM_ACCESS,
  summary: ({ taskId }: z.infer<typeof input>) => `#${taskId}`,
  execute: ({ taskId }: z.infer<typeof input>) =>
    withRefusals(async () => {
      const task = getTask(ctx.ref, taskId);
      return jsonResult({ task: publicTask(ctx.ref, task) }, `#${task.id} ${task.subject}: ${task.status}`);
    }),
});
