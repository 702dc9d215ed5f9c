import * as z from "zod/mini";
import { TOO_MANY_TASKS } from "../agent/background/background-tasks.ts";
import {
  type AgentType,
  type AgentTypes,
  BUILTIN_TYPES_ALONE,
  DEFAULT_AGENT_TYPE,
} from "../agent/prompts/agent-types.ts";
import type { SubagentResult } from "../agent/subagent.ts";
import type { ToolContext, ToolResult } from "../agent/tool.ts";
import { failed } from "../agent/tools/file-access.ts";
import { schemaOf } from "../agent/tools/tool-specs.ts";
import { TeamError } from "../errors.ts";
import { type OperationContext, requireNoNesting } from "../operations/context.ts";
import { inheritedMode } from "../operations/permission-mode.ts";
import { type SpawnInput, spawnMode, spawnType } from "../operations/spawn/draft-member.ts";
import { spawnTeammates } from "../operations/spawn/spawn.ts";
import { permissionMode } from "../schema/config.ts";
import { defined } from "../schema/defined.ts";
import { sameName } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { readTeam } from "../team/config/config.ts";
import { jsonResult, TEAM_ACCESS, type TeamTool, type TeamToolContext, withRefusals } from "./context.ts";

const input = z.object({
  prompt: z
    .string()
    .check(
      z.maxLength(100_000),
      z.describe("All of what it is to do: it knows nothing of your conversation"),
    ),
  description: z._default(z.string(), "").check(z.describe("Three to five words")),
  subagent_type: z
    .optional(z.string())
    .check(z.describe("One of the agent types; general-purpose by default")),
  name: z
    .optional(z.string())
    .check(
      z.describe("The teammate's name in the team; without one it is a subagent that returns its result"),
    ),
  team_name: z.optional(z.string()).check(z.describe("Your own team; leave it out")),
  model: z.optional(z.string()).check(z.describe("haiku, sonnet, opus, an id, or inherit (default)")),
  mode: z
    .optional(permissionMode)
    .check(z.describe("Permission mode; yours by default, and no more than yours")),
  plan_mode_required: z
    .optional(z.boolean())
    .check(z.describe("For a teammate: it acts only after you have approved its plan")),
  allowedTools: z
    .optional(z.array(z.string()))
    .check(z.describe("Rules for what it may do unasked, like Read or Bash(npm test:*)")),
  disallowedTools: z
    .optional(z.array(z.string()))
    .check(z.describe("Rules for what it may never do, of the same form")),
  run_in_background: z
    .optional(z.boolean())
    .check(z.describe("For a subagent: return at once; you are told when it has ended")),
  isolation: z
    .optional(z.enum(["worktree"]))
    .check(z.describe("For a teammate: it works on a branch of its own, in its own git worktree")),
});

type Call = z.infer<typeof input>;

/** The type that is one of a team: of no use to who starts no teammates. */
const MEMBER_TYPE = "teammate";

/** What only a teammate can be given: who starts none is not told of it, and refused with it. */
const FOR_TEAMMATES = { name: true, team_name: true, plan_mode_required: true, isolation: true } as const;

export const agent: TeamTool = (own) => ({
  name: "Agent",
  alias: "Task",
  description: `${
    own.role === "lead"
      ? "With a name: starts a teammate, a separate agent that works beside you and reports by messages; the call returns when it is ready. Without one: runs a subagent with a context of its own, and returns its result; several in one message run at the same time."
      : "Runs a subagent with a context of its own on one piece of work, and returns its result. Several in one message run at the same time."
  }

Agent types:
${typesOf(own)
  .types.filter((type) => own.role === "lead" || (type.name !== MEMBER_TYPE && isWithin(type, own)))
  .map(typeLine)
  .join("\n")}`,
  input,
  ...(own.role === "lead" ? {} : { inputSchema: schemaOf(z.omit(input, FOR_TEAMMATES)) }),
  // Several of one turn start together, and each waits for its own alone.
  parallel: true,
  access: ({ subagent_type: what = DEFAULT_AGENT_TYPE }: Call) => ({ ...TEAM_ACCESS, what }),
  summary: ({ name, description, prompt }: Call) =>
    [name ?? "", description || (name === undefined ? prompt.replace(/\s+/g, " ").slice(0, 60) : "")]
      .filter((part) => part !== "")
      .join(": "),
  execute: (call: Call, context: ToolContext) =>
    withRefusals(async () => {
      const { name } = call;
      if (name !== undefined) requireNoNesting(own.ctx);
      else requireOwnWork(own);
      return name === undefined ? runSubagent(call, own, context) : startTeammate({ ...call, name }, own);
    }),
});

/** @throws TeamError PERMISSION_DENIED in a lead that only coordinates: what a subagent does is its own work (S53) */
function requireOwnWork({ role, worker }: TeamToolContext): void {
  if (role !== "lead" || worker.plan.mode !== "delegate") return;
  throw new TeamError(
    "PERMISSION_DENIED",
    "In delegate mode the lead only coordinates; nothing was started.",
    { hint: "Give it a name: it is a teammate then." },
  );
}

/** The types that its agent can name. */
function typesOf({ types }: TeamToolContext): AgentTypes {
  return types === undefined ? BUILTIN_TYPES_ALONE : { ...BUILTIN_TYPES_ALONE, types };
}

/** Whether a type has no tool that its agent lacks: with less it would be another. */
function isWithin({ tools }: AgentType, { typeTools: within }: TeamToolContext): boolean {
  return within === undefined || (tools?.every((tool) => within.includes(tool)) ?? false);
}

function typeLine({ name, description }: AgentType): string {
  return `- ${name}${description === "" ? "" : `: ${description}`}`;
}

/** The most that it can give to others: its own mode, and of a lead that only coordinates the one from before. */
function maxModeOf({ ctx, worker }: TeamToolContext): PermissionMode {
  const { mode } = worker.plan;
  return mode === "delegate" ? inheritedMode(readTeam(ctx.ref)) : mode;
}

/** @throws TeamError TEAM_NOT_FOUND: a teammate joins the team of its lead, by whichever of its names */
function requireOwnTeam(wanted: string | undefined, { ref }: OperationContext): void {
  const { displayName } = readTeam(ref);
  if (wanted === undefined || wanted === ref.team || wanted === displayName) return;
  throw new TeamError(
    "TEAM_NOT_FOUND",
    `You lead ${displayName ?? ref.team}, not ${wanted}; nothing was started.`,
    {
      hint: "Leave team_name out.",
    },
  );
}

async function startTeammate(
  call: Call & { readonly name: string },
  own: TeamToolContext,
): Promise<ToolResult> {
  const { ctx, spawn } = own;
  requireOwnTeam(call.team_name, ctx);
  const [spawned] = await spawnTeammates(ctx, [{ ...spawnInput(call), maxMode: maxModeOf(own) }], spawn);
  if (spawned === undefined) throw new TeamError("SPAWN_FAILED", `${call.name} was not started.`);
  const renamed = sameName(spawned.name, call.name)
    ? undefined
    : `The name ${call.name} was taken: this one is called ${spawned.name}.`;
  return jsonResult(
    {
      status: "teammate_spawned",
      ...(renamed !== undefined && { message: renamed }),
      teammate_id: spawned.agentId,
      agent_id: spawned.agentId,
      agent_type: spawned.agentType,
      model: spawned.model,
      name: spawned.name,
      color: spawned.color,
      team_name: ctx.ref.team,
      plan_mode_required: spawned.planModeRequired,
      mode: spawned.mode,
      pane_id: spawned.paneId,
      ...(spawned.worktree && { worktree_path: spawned.worktree, worktree_branch: spawned.branch }),
    },
    [
      `${spawned.name} is ready${spawned.paneId === null ? "" : ` in pane ${spawned.paneId}`}.`,
      ...(renamed === undefined ? [] : [renamed]),
    ].join(" "),
  );
}

function spawnInput(call: Call & { readonly name: string }): SpawnInput {
  return defined({
    name: call.name,
    prompt: call.prompt,
    unique: true,
    agentType: call.subagent_type,
    model: call.model,
    permissionMode: call.mode,
    plan: call.plan_mode_required,
    allowedTools: call.allowedTools,
    disallowedTools: call.disallowedTools,
    worktree: call.isolation && {},
  });
}

/** What only an agent with a place of its own can have is refused, rather than done without. */
async function runSubagent(call: Call, own: TeamToolContext, context: ToolContext): Promise<ToolResult> {
  if (call.isolation !== undefined || call.plan_mode_required) {
    const what = call.isolation === undefined ? "plan_mode_required" : "isolation";
    throw new TeamError("INVALID_INPUT", `${what} is for a teammate; nothing was started.`, {
      hint: own.role === "lead" ? "Give it a name, or leave that out." : "Leave it out.",
    });
  }
  const { prompt, description, model, allowedTools, disallowedTools } = call;
  const type = spawnType(call.subagent_type, typesOf(own));
  const { name: agentType } = type;
  const mode = subagentMode(call, type, own);
  const what = description || agentType;
  const wanted = { prompt, description: what, agentType, model, mode, allowedTools, disallowedTools };
  if (!call.run_in_background) return resultOf(agentType, await own.subagent(wanted, context.signal));
  const started = context.background.start("agent", what, async (signal, file) => {
    const { outcome, text, failure } = await own.subagent({ ...wanted, background: true }, signal);
    file.add("stdout", `${text}\n`);
    return outcome === "completed"
      ? { status: "completed", how: "done" }
      : { status: "failed", how: failure ?? outcome };
  });
  if (started === undefined) return failed(TOO_MANY_TASKS);
  const { taskId, outputFile } = started;
  return jsonResult(
    { status: "async_launched", task_id: taskId, agent_type: agentType, output_file: outputFile },
    `It works in the background as ${taskId}.`,
  );
}

/** @returns undefined for its agent's own, also when that changes @throws TeamError PERMISSION_DENIED */
function subagentMode(
  { mode, allowedTools }: Call,
  type: AgentType,
  own: TeamToolContext,
): PermissionMode | undefined {
  const most = maxModeOf(own);
  const wanted = spawnMode(
    { name: "a subagent", permissionMode: mode, allowedTools, maxMode: most },
    most,
    type.permissionMode,
  );
  return wanted === most ? undefined : wanted;
}

function resultOf(agentType: string, result: SubagentResult): ToolResult {
  const { outcome, text, failure, toolCalls, usage, costUsd, transcriptPath } = result;
  const data = {
    status: outcome,
    agent_type: agentType,
    result: text,
    tool_calls: toolCalls,
    usage,
    cost_usd: costUsd,
    transcript_path: transcriptPath,
  };
  if (outcome === "completed") return { content: text === "" ? "(It ended without a word.)" : text, data };
  const why = failure ?? "It was interrupted.";
  return { content: text === "" ? why : `${why} Before that it said:\n${text}`, data, isError: true };
}
