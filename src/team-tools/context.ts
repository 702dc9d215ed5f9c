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
import type { Task } from "../schema/task.ts";
import type { TeamRef } from "../team/ref.ts";
import type { TaskHooks } from "../team/tasks/update-task.ts";
import type { Worker } from "../worker/worker.ts";

/** The part of a caller that the tools of every member use: of a worker, or of the client of an MCP server. */
export interface ToolCaller
  extends Pick<Worker, "name" | "color" | "agreeToStop" | "setTaskHeld" | "showQuestion"> {
  readonly shutdownRequests: Pick<Worker["shutdownRequests"], "isOpen" | "close">;
  readonly workSinceIdle: Pick<Worker["workSinceIdle"], "addPeerMessage" | "addCompletedTask">;
}

/** The dependencies of the tools that every member has, whatever program it runs. */
export interface MemberToolContext {
  readonly ctx: OperationContext;
  readonly worker: ToolCaller;
  readonly role: "teammate" | "lead";
  /** Hooks that may refuse to add or complete a task. */
  readonly hooks?: Hooks | undefined;
  /** The same hooks, if they are already bound to the member. */
  readonly gate?: TaskHooks | undefined;
  /** Runs the verify command of a task before its completion; an error refuses the completion. */
  readonly verify?: ((task: Task, signal: AbortSignal) => Promise<void>) | undefined;
}

/** The dependencies of one agent's team tools: the context of operations, and the agent's worker. */
export interface TeamToolContext extends MemberToolContext {
  readonly worker: Worker;
  /** The agent types that the agent can name; the built-in ones by default. */
  readonly types?: readonly AgentType[] | undefined;
  /** The tools of the agent's own type, which limit its subagents; undefined for all. */
  readonly typeTools?: readonly string[] | undefined;
  /** The options for teammates that this agent spawns. */
  readonly spawn: SpawnOptions;
  /** The user has turned agent teams off: a lead has no teammates, and no tools for them. */
  readonly teamsOff?: boolean | undefined;
  /** Its program is a CLI with its own subagents, so it only starts teammates. */
  readonly hasOwnSubagents?: boolean | undefined;
  /** Keeps the team's files even if the lead deletes the team. */
  readonly keepsTeam?: boolean | undefined;
  /** Called when the lead has recreated or renamed its team, before the team is used. Receives the previous team. */
  readonly onTeamMoved?: ((before: TeamRef) => Promise<void>) | undefined;
  /** Called before the lead deletes its team. Never rejects. */
  readonly onTeamDelete?: (() => Promise<void>) | undefined;
  /** Runs a subagent for one piece of work, during this agent's turn or in the background. */
  subagent(call: SubagentCall, signal: AbortSignal): Promise<SubagentResult>;
}

/** The call of a subagent, an agent without a name. Omitted values are inherited from the calling agent. */
export interface SubagentCall {
  readonly prompt: string;
  readonly description: string;
  readonly agentType: string;
  readonly model?: string | undefined;
  readonly mode?: PermissionMode | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  /** Runs independently of the calling agent's turns: an urgent message to that agent does not interrupt it. */
  readonly background?: boolean;
}

export type TeamTool = (context: TeamToolContext) => AnyTool;

/** The context of a call that a {@link MemberTool} uses. */
export type MemberToolCall = Pick<ToolContext, "signal">;

/** A tool that every member has, whatever program it runs. */
export type MemberTool = (context: MemberToolContext) => Omit<AnyTool, "execute"> & {
  // biome-ignore lint/suspicious/noExplicitAny: as in AnyTool
  execute(input: any, call: MemberToolCall): Promise<ToolResult>;
};

/**
 * Creates a result that a model reads as JSON and a playbook as a value.
 * @param display the text in the pane; by default the data's `message`
 */
export function jsonResult(data: Record<string, unknown>, display = String(data.message ?? "")): ToolResult {
  return { content: JSON.stringify(data, undefined, 2), data, ...(display === "" ? {} : { display }) };
}

/** Runs a tool's work and turns a TeamError into a result that the model can act on. Other errors are rethrown. */
export async function withRefusals(work: () => Promise<ToolResult>): Promise<ToolResult> {
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

/** Hints for a model, which name its tools instead of a shell command. */
const MODEL_HINTS: Partial<Record<ErrorCode, string>> = {
  ACTIVE_MEMBERS: "Send each of them a shutdown_request with SendMessage, and wait for the answers.",
  NOT_LEAD: `Ask ${LEAD_NAME} with SendMessage.`,
  TASK_NOT_FOUND: "TaskList shows the tasks.",
  TASK_BLOCKED: "TaskList shows the tasks that it waits for.",
  TASK_CONFLICT: "TaskList shows the running tasks. Claim a task that touches other files, or wait.",
  CYCLE: "TaskList shows which tasks wait for each other.",
  RECIPIENT_INACTIVE: "Give its work to another teammate.",
};

/** @returns undefined if the hint is a shell command for a person */
function hintOf({ code, hint }: TeamError): string | undefined {
  return MODEL_HINTS[code] ?? (hint !== undefined && /\bteams [a-z]/.test(hint) ? undefined : hint);
}

/** Returns the gate through which hooks and verify commands can refuse this agent's task changes. */
export function taskGateOf(
  { ctx, hooks, gate, verify }: MemberToolContext,
  { signal }: MemberToolCall,
): TaskHooks | undefined {
  if (gate !== undefined) return gate;
  const ofHooks = hooks && taskGate(hooks, { name: ctx.actor, team: ctx.ref.team }, signal);
  return { ...ofHooks, verify: verify && ((task) => verify(task, signal)) };
}

/** Team tools are allowed in every mode and never run concurrently, except Agent (protocol.md section 8). */
export const TEAM_ACCESS = { kind: "team" } as const;
