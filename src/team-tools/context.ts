import type { Hooks } from "../agent/hooks/hooks.ts";
import type { AgentType } from "../agent/prompts/agent-types.ts";
import type { SubagentResult } from "../agent/subagent.ts";
import type { AnyTool, ToolContext, ToolResult } from "../agent/tool.ts";
import { type ErrorCode, messageOf, TeamError } from "../errors.ts";
import type { OperationContext } from "../operations/context.ts";
import type { SpawnOptions } from "../operations/spawn/spawn.ts";
import { taskGate } from "../operations/task-gate.ts";
import { defined } from "../schema/defined.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import type { TaskHooks } from "../team/tasks/update-task.ts";
import type { Worker } from "../worker/worker.ts";

/** What the team tools of one agent act with: the operations' context, and the worker that the agent is. */
export interface TeamToolContext {
  readonly ctx: OperationContext;
  readonly worker: Worker;
  readonly role: "teammate" | "lead";
  /** Asked before a task is added or completed. */
  readonly hooks?: Hooks | undefined;
  /** The agent types that it can name; the built-in ones without it. */
  readonly types?: readonly AgentType[] | undefined;
  /** The tools that its own type has, which those that work for it have at most; undefined for all. */
  readonly within?: readonly string[] | undefined;
  /** Where teammates that this agent spawns live. */
  readonly spawn: SpawnOptions;
  /** The files of its team stay, whatever its lead deletes. */
  readonly keepsTeam?: boolean | undefined;
  /** Hears of a team that a lead has made anew, before anything is done in it. */
  readonly teamMade?: (() => Promise<void>) | undefined;
  /** Runs an agent for one piece of work inside of this one's turn. */
  subagent(call: SubagentCall, signal: AbortSignal): Promise<SubagentResult>;
}

/** An agent without a name; what is left out it has from the one that it works for. */
export interface SubagentCall {
  readonly prompt: string;
  readonly description: string;
  readonly agentType: string;
  readonly model?: string | undefined;
  readonly mode?: PermissionMode | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  /** It works behind its agent's turns: what is urgent for the one that runs does not end it. */
  readonly behind?: boolean;
}

export type TeamTool = (context: TeamToolContext) => AnyTool;

/**
 * A result that a model reads as JSON and a playbook as a value.
 * @param display what a person reads in the pane; the data's `message` without it
 */
export function answer(data: Record<string, unknown>, display = String(data.message ?? "")): ToolResult {
  return { content: JSON.stringify(data, undefined, 2), data, ...(display === "" ? {} : { display }) };
}

/** A refusal that the model can act on; what is no TeamError goes on as a failure of the program. */
export async function refusing(work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    const data = defined({
      success: false,
      code: error.code,
      message: messageOf(error),
      hint: hintOf(error),
    });
    return { content: JSON.stringify(data, undefined, 2), data, display: data.message, isError: true };
  }
}

/** What a model does with its tools where a person at a shell is told of a command. */
const HINTS: Partial<Record<ErrorCode, string>> = {
  ACTIVE_MEMBERS: "Ask each to shut down by SendMessage of type shutdown_request, and wait for its answer.",
  NOT_LEAD: `Ask ${LEAD_NAME} by SendMessage.`,
  TASK_NOT_FOUND: "TaskList shows the tasks.",
  TASK_BLOCKED: "TaskList shows what it waits for.",
  CYCLE: "TaskList shows what waits for what.",
  RECIPIENT_INACTIVE: "Give its work to another teammate.",
};

/** @returns undefined where the hint is a command for a person's shell */
function hintOf({ code, hint }: TeamError): string | undefined {
  return HINTS[code] ?? (hint !== undefined && /\bteams [a-z]/.test(hint) ? undefined : hint);
}

/** What the hooks have to say when this agent adds or completes a task. */
export function taskGateOf({ ctx, hooks }: TeamToolContext, { signal }: ToolContext): TaskHooks | undefined {
  return hooks && taskGate(hooks, { name: ctx.actor, team: ctx.ref.team }, signal);
}

/** Every team tool is allowed in every mode, and none runs beside another (protocol.md section 8). */
export const TEAM_ACCESS = { kind: "team" } as const;
