import * as z from "zod/mini";
import { stripControls } from "../../text/terminal-text.ts";
import type { TaskSnapshot } from "../background/background-tasks.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { failed } from "./file-access.ts";

const DEFAULT_WAIT_MS = 30_000;
const MAX_WAIT_MS = 600_000;

/** An agent needs no permission to read or stop its own tasks. */
const OWN_ACCESS = { kind: "team" } as const;

const taskId = z.string().check(z.minLength(1), z.describe("The id that the task got when it started"));

const outputInput = z.object({
  task_id: taskId,
  block: z.optional(z.boolean()).check(z.describe("Wait until the task ends (default: true)")),
  timeout: z
    .optional(z.number().check(z.minimum(0), z.maximum(MAX_WAIT_MS)))
    .check(z.describe(`Milliseconds to wait (default: ${DEFAULT_WAIT_MS}, maximum: ${MAX_WAIT_MS})`)),
});

export const taskOutputTool: Tool<z.infer<typeof outputInput>> = {
  name: "TaskOutput",
  description:
    "Returns the state and the output of a background command or subagent. Waits until it ends, unless block is false. Tasks in the team's task list have no output.",
  input: outputInput,
  parallel: true,
  access: () => OWN_ACCESS,
  summary: ({ task_id }) => task_id,
  async execute({ task_id, block = true, timeout = DEFAULT_WAIT_MS }, { background, signal }) {
    const snapshot = await background.snapshot(task_id, block ? timeout : 0, signal);
    return snapshot === undefined ? unknownTask(task_id) : resultOf(task_id, snapshot);
  },
};

const stopInput = z.object({ task_id: taskId });

export const taskStopTool: Tool<z.infer<typeof stopInput>> = {
  name: "TaskStop",
  description: "Stops a background command or subagent, and everything that it started.",
  input: stopInput,
  access: () => OWN_ACCESS,
  summary: ({ task_id }) => task_id,
  async execute({ task_id }, { background }) {
    const end = await background.stop(task_id);
    if (end === undefined) return unknownTask(task_id);
    const content =
      end.status === "killed" ? `${task_id} was stopped.` : `${task_id} had already ended: ${end.how}.`;
    return { content, data: { taskId: task_id, status: end.status } };
  },
};

function restNote({ outputFile, isCut, problem }: TaskSnapshot): string {
  if (isCut) return `its start is in ${outputFile}, which is full`;
  return `${problem === undefined ? "the whole output" : "the older output"} is in ${outputFile}`;
}

function unknownTask(id: string): ToolResult {
  return failed(`There is no background task ${id}. Tasks from before the agent's restart have ended.`);
}

function resultOf(id: string, snapshot: TaskSnapshot): ToolResult {
  const { status, how, outputFile, output, isWhole, problem } = snapshot;
  const state = status === "running" ? "is still running" : `${status}: ${how}`;
  const part = isWhole ? "" : `\n(its newest output; ${restNote(snapshot)})`;
  const unwritten =
    problem === undefined ? "" : `\n(the end of the output is not in ${outputFile} yet: ${problem})`;
  const shown = stripControls(output).trimEnd();
  return {
    content: `${id} ${state}${part}${unwritten}\n${shown.trim() === "" ? "(no output)" : shown}`,
    data: { taskId: id, status, outputFile, output },
  };
}
