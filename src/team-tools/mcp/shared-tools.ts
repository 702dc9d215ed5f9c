import * as z from "zod/mini";
import { taskStatus } from "../../schema/task.ts";
import { MEMBER_TOOLS } from "../team-tools.ts";
import type { AnyClientTool, ClientToolContext, ToolHints } from "./client-tool.ts";

/** A task as results show it. */
export const taskOutput = z.looseObject({
  id: z.string(),
  subject: z.string(),
  description: z.string(),
  status: taskStatus,
  owner: z.optional(z.string()),
  blocks: z.array(z.string()),
  blockedBy: z.array(z.string()),
});

const sent = z.looseObject({
  success: z.boolean(),
  message: z.string(),
  recipients: z.optional(z.array(z.string())),
  request_id: z.optional(z.string()),
  routing: z.optional(z.looseObject({ sender: z.string(), target: z.string(), content: z.string() })),
});

const changedTask = z.looseObject({ id: z.string(), status: z.enum([...taskStatus.options, "deleted"]) });

const taskList = z.looseObject({
  tasks: z.array(
    z.looseObject({
      id: z.string(),
      subject: z.string(),
      status: taskStatus,
      owner: z.nullable(z.string()),
      blockedBy: z.array(z.string()),
    }),
  ),
  broken: z.optional(z.array(z.string())).check(z.describe("Ids of tasks that cannot be read")),
});

interface Facts {
  readonly hints: ToolHints;
  readonly output: z.ZodMiniType;
}

/** The facts for clients about the tools that all members have. */
const FACTS: Readonly<Record<string, Facts>> = {
  SendMessage: { hints: { title: "Send a message" }, output: sent },
  TaskCreate: {
    hints: { title: "Add a task" },
    output: z.looseObject({ task: z.looseObject({ id: z.string(), subject: z.string() }) }),
  },
  TaskGet: {
    hints: { title: "Read a task", readOnly: true },
    output: z.looseObject({ task: taskOutput }),
  },
  TaskUpdate: {
    hints: { title: "Change a task", destructive: true, idempotent: true },
    output: z.looseObject({ success: z.boolean(), task: changedTask }),
  },
  TaskList: { hints: { title: "List the tasks", readOnly: true }, output: taskList },
  AskUserQuestion: {
    hints: { title: "Ask the person" },
    output: z.looseObject({ request_id: z.string() }),
  },
};

/** Returns the tools that every member has, for a client. */
export function sharedTools(context: ClientToolContext): readonly AnyClientTool[] {
  return MEMBER_TOOLS.map((tool) => {
    const { name, description, input, execute } = tool(context);
    const facts = FACTS[name];
    if (facts === undefined) throw new Error(`The tool ${name} has no facts for MCP clients.`);
    return { name, description, input, execute, ...facts };
  });
}
