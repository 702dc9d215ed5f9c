import * as z from "zod/mini";
import { claimTask } from "../../team/tasks/claim-task.ts";
import { jsonResult, withRefusals } from "../context.ts";
import { publicTask, taskIdInput } from "../task-schema.ts";
import type { ClientTool } from "./client-tool.ts";
import { taskOutput } from "./shared-tools.ts";

const input = z.object({
  taskId: z.optional(taskIdInput).check(z.describe("The task's id; by default, the lowest free task")),
});

export const taskClaim: ClientTool = ({ ctx }) => ({
  name: "TaskClaim",
  description:
    "Makes you the owner of a task and starts it. Refused if the task belongs to another member, is blocked or completed, or if a running task touches the same files.",
  hints: { title: "Claim a task" },
  input,
  output: z.looseObject({ success: z.boolean(), task: taskOutput }),
  execute: ({ taskId }: z.infer<typeof input>) =>
    withRefusals(async () => {
      const task = await claimTask(ctx.ref, ctx.actor, taskId);
      return jsonResult({ success: true, task: publicTask(ctx.ref, task) });
    }),
});
