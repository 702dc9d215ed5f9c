import * as z from "zod/mini";
import { defined } from "../schema/defined.ts";
import { addTask } from "../team/tasks/update-task.ts";
import { jsonResult, type MemberTool, TEAM_ACCESS, taskGateOf, withRefusals } from "./context.ts";
import { metadataInput, reviewerInput, touchesInput } from "./task-schema.ts";

const input = z.object({
  subject: z.string().check(z.minLength(1), z.describe("One line, as an instruction")),
  description: z._default(z.string(), "").check(z.describe("Everything that its owner needs to know")),
  activeForm: z
    .optional(z.string())
    .check(z.describe("The owner's activity, for its status: “Counting files”")),
  reviewer: reviewerInput,
  touches: touchesInput,
  metadata: z.optional(metadataInput).check(z.describe("Data to store with the task")),
});

export const taskCreate: MemberTool = (tools) => ({
  name: "TaskCreate",
  description: "Adds a task to the team's list. Set its dependencies with TaskUpdate.",
  input: input,
  access: () => TEAM_ACCESS,
  summary: ({ subject }: z.infer<typeof input>) => subject,
  execute: (task: z.infer<typeof input>, context) =>
    withRefusals(async () => {
      const { ctx } = tools;
      const gate = taskGateOf(tools, context);
      const { id, subject } = await addTask(ctx.ref, ctx.actor, defined(task), ctx.clock, gate);
      return jsonResult({ task: { id, subject } }, `#${id} ${subject}`);
    }),
});
