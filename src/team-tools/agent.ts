import * as z from "zod/mini";
import { TOO_MANY_TASKS } from "../agent/background/background-tasks.ts";
import {
  type AgentType,
  type AgentTypes,
  DEFAULT_AGENT_TYPE,
  findAgentType,
  ONLY_BUILTIN_TYPES,
} from "../agent/prompts/agent-types.ts";
import type { SubagentResult } from "../agent/subagent.ts";
import type { ToolContext, ToolResult } from "../agent/tool.ts";
import { failed } from "../agent/tools/file-access.ts";
import { schemaOf } from "../agent/tools/tool-specs.ts";
import { TeamError } from "../errors.ts";
import { requireNoNesting } from "../operations/context.ts";
import { inheritedMode } from "../operations/permission-mode.ts";
import { spawnType } from "../operations/spawn/draft-member.ts";
import { requireProjectPlaybook } from "../operations/spawn/model-requests.ts";
import { spawnMode } from "../operations/spawn/spawn-mode.ts";
import { permissionMode } from "../schema/config.ts";
import { sameName } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { readTeam } from "../team/config/config.ts";
import { shortened } from "../text/characters/cut-text.ts";
import { jsonResult, TEAM_ACCESS, type TeamTool, type TeamToolContext, withRefusals } from "./context.ts";
import { startTeammate } from "./start-teammate.ts";

/** The input of a call that starts an agent. */
export const agentInput = z.object({
  prompt: z
    .string()
    .check(z.maxLength(100_000), z.describe("Its complete task: it knows nothing of your conversation")),
  description: z._default(z.string(), "").check(z.describe("The task in three to five words")),
  subagent_type: z
    .optional(z.string())
    .check(z.describe("One of the agent types; general-purpose by default")),
  name: z
    .optional(z.string())
    .check(
      z.describe("The teammate's name in the team; without a name, it is a subagent that returns its result"),
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
    .check(z.describe("Rules for calls that run without asking, such as Read or Bash(npm test:*)")),
  disallowedTools: z
    .optional(z.array(z.string()))
    .check(z.describe("Rules for calls that never run, in the same form")),
  run_in_background: z
    .optional(z.boolean())
    .check(z.describe("For a subagent: return at once; you are notified when it has ended")),
  isolation: z
    .optional(z.enum(["worktree"]))
    .check(z.describe("For a teammate: it works on its own branch, in its own git worktree")),
  cli: z
    .optional(z.string())
    .check(
      z.describe(
        "For a teammate: the third-party CLI to run instead of the built-in agent, such as codex; needs permission",
      ),
    ),
});

type Call = z.infer<typeof agentInput>;

/** The agent type of teammates, hidden from agents that cannot start teammates. */
const MEMBER_TYPE = "teammate";

/** The fields for teammates. Hidden from agents that cannot start teammates, and refused if they use them. */
const FOR_TEAMMATES = {
  name: true,
  team_name: true,
  plan_mode_required: true,
  isolation: true,
  cli: true,
} as const;

export const agent: TeamTool = (own) => ({
  name: "Agent",
  alias: "Task",
  description: `${
    mayLead(own) && own.hasOwnSubagents
      ? "Starts a teammate, a separate agent that works in parallel with you and reports by messages; the call returns when it is ready. It needs a name."
      : mayLead(own)
        ? "With a name: starts a teammate, a separate agent that works in parallel with you and reports by messages; the call returns when it is ready. Without one: runs a subagent with its own context, and returns its result; several in one message run at the same time."
        : "Runs a subagent with its own context on one piece of work, and returns its result. Several in one message run at the same time."
  }

Agent types:
${typesOf(own)
  .types.filter((type) => mayLead(own) || (type.name !== MEMBER_TYPE && isWithin(type, own)))
  .map(typeLine)
  .join("\n")}`,
  input: agentInput,
  ...(mayLead(own) ? {} : { inputSchema: schemaOf(z.omit(agentInput, FOR_TEAMMATES)) }),
  // Several calls of one turn start concurrently.
  parallel: true,
  access: (call: Call) => ({
    ...TEAM_ACCESS,
    what: call.subagent_type ?? DEFAULT_AGENT_TYPE,
    cli: cliOf(call, own),
  }),
  summary: ({ name, description, prompt, ...call }: Call) =>
    [
      withCli(name, cliOf({ name, ...call }, own)),
      description || (name === undefined ? shortened(prompt.replace(/\s+/g, " "), 60) : ""),
    ]
      .filter((part) => part !== "")
      .join(": "),
  execute: (call: Call, context: ToolContext) =>
    withRefusals(async () => {
      const { name } = call;
      if (name !== undefined) requireTeams(own);
      else requireOwnWork(own);
      if (name === undefined) return runSubagent(call, own, context);
      const { ctx } = own;
      const permitted = cliOf(call, own);
      // The type may have changed since the permission was given.
      const spawn = { ...own.spawn, mayStartCli: (cli: string) => cli === permitted };
      return startTeammate({ ...call, name }, { ctx, spawn, maxMode: maxModeOf(own) });
    }),
});

/** Returns the third-party CLI that a new teammate runs: that of the call, or else that of its type. */
function cliOf(
  { name, cli, subagent_type }: Pick<Call, "name" | "cli" | "subagent_type">,
  own: TeamToolContext,
): string | undefined {
  if (name === undefined) return undefined;
  return cli ?? findAgentType(subagent_type ?? DEFAULT_AGENT_TYPE, typesOf(own).types)?.cli;
}

function withCli(name = "", cli: string | undefined): string {
  return cli === undefined ? name : `${name} (${cli})`;
}

/** Whether the agent can start teammates. */
function mayLead({ role, teamsOff = false }: TeamToolContext): boolean {
  return role === "lead" && !teamsOff;
}

/** @throws TeamError PERMISSION_DENIED for a teammate, and if agent teams are off */
function requireTeams({ ctx, teamsOff = false }: TeamToolContext): void {
  requireNoNesting(ctx);
  if (!teamsOff) return;
  throw new TeamError("PERMISSION_DENIED", "The user has turned agent teams off; nothing was started.", {
    hint: "Leave out `name`: a subagent then does the work and returns its result.",
  });
}

/**
 * @throws TeamError PERMISSION_DENIED for a lead in delegate mode: a subagent's work counts as the lead's own work (S53);
 * INVALID_INPUT if its program has its own subagents
 */
function requireOwnWork({ role, worker, hasOwnSubagents }: TeamToolContext): void {
  if (hasOwnSubagents) {
    throw new TeamError(
      "INVALID_INPUT",
      "A teammate needs a name, and your own program runs the subagents; nothing was started.",
      { hint: "Add `name` to spawn a teammate." },
    );
  }
  if (role !== "lead" || worker.planApproval.mode !== "delegate") return;
  throw new TeamError(
    "PERMISSION_DENIED",
    "In delegate mode the lead only coordinates; nothing was started.",
    { hint: "Add `name` to spawn a teammate instead." },
  );
}

/** Returns the agent types that the agent can name. */
function typesOf({ types }: TeamToolContext): AgentTypes {
  return types === undefined ? ONLY_BUILTIN_TYPES : { ...ONLY_BUILTIN_TYPES, types };
}

/** Whether the agent has all tools of a type; with fewer tools, the type would not do what it promises. */
function isWithin({ tools }: AgentType, { typeTools: within }: TeamToolContext): boolean {
  return within === undefined || (tools?.every((tool) => within.includes(tool)) ?? false);
}

function typeLine({ name, description }: AgentType): string {
  return `- ${name}${description === "" ? "" : `: ${description}`}`;
}

/** Returns the highest mode that the agent can grant: its own, or in delegate mode the lead's previous mode. */
function maxModeOf({ ctx, worker }: TeamToolContext): PermissionMode {
  const { mode } = worker.planApproval;
  return mode === "delegate" ? inheritedMode(readTeam(ctx.ref)) : mode;
}

/** Runs a subagent. Refuses options that only a teammate can have, instead of ignoring them. */
async function runSubagent(call: Call, own: TeamToolContext, context: ToolContext): Promise<ToolResult> {
  const what = onlyForTeammates(call);
  if (what !== undefined) {
    throw new TeamError("INVALID_INPUT", `${what} is for a teammate; nothing was started.`, {
      hint: mayLead(own) ? `Add \`name\`, or leave out ${what}.` : `Leave out ${what}.`,
    });
  }
  const { prompt, description, model, allowedTools, disallowedTools } = call;
  const self = readTeam(own.ctx.ref).members.find(({ name }) => sameName(name, own.ctx.actor));
  requireProjectPlaybook(model, self?.model, own.ctx.cwd);
  const type = spawnType(call.subagent_type, typesOf(own));
  const { name: agentType } = type;
  if (type.cli !== undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      `Agents of the type ${agentType} run in ${type.cli}, and only a teammate can do that; nothing was started.`,
      { hint: mayLead(own) ? "Add `name`, or choose another type." : "Choose another type." },
    );
  }
  const mode = subagentMode(call, type, own);
  const task = description || agentType;
  const request = { prompt, description: task, agentType, model, mode, allowedTools, disallowedTools };
  if (!call.run_in_background) return resultOf(agentType, await own.subagent(request, context.signal));
  const started = context.background.start("agent", task, async (signal, file) => {
    const { outcome, text, failure } = await own.subagent({ ...request, background: true }, signal);
    file.add("stdout", `${text}\n`);
    return outcome === "completed"
      ? { status: "completed", how: "done" }
      : { status: "failed", how: failure ?? outcome };
  });
  if (started === undefined) return failed(TOO_MANY_TASKS);
  const { taskId, outputFile } = started;
  return jsonResult(
    { status: "async_launched", task_id: taskId, agent_type: agentType, output_file: outputFile },
    `The subagent is running in the background as ${taskId}.`,
  );
}

function onlyForTeammates(call: Call): string | undefined {
  if (call.isolation !== undefined) return "isolation";
  if (call.cli !== undefined) return "cli";
  if (call.plan_mode_required) return "plan_mode_required";
  return call.mode === "delegate" ? "mode delegate" : undefined;
}

/** @returns undefined to follow the calling agent's mode, even when it changes @throws TeamError PERMISSION_DENIED */
function subagentMode(
  { mode, allowedTools }: Call,
  type: AgentType,
  own: TeamToolContext,
): PermissionMode | undefined {
  const maxMode = maxModeOf(own);
  const chosen = spawnMode(
    { name: "a subagent", permissionMode: mode, allowedTools, maxMode },
    maxMode,
    type.permissionMode,
  );
  return chosen === maxMode ? undefined : chosen;
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
  if (outcome === "completed")
    return { content: text === "" ? "(The subagent ended without a final message.)" : text, data };
  const why = failure ?? "The subagent was interrupted.";
  return { content: text === "" ? why : `${why} Its text before that:\n${text}`, data, isError: true };
}
