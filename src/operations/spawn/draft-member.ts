import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { parseRule } from "../../agent/permissions/rules.ts";
import { type AgentTypes, DEFAULT_AGENT_TYPE } from "../../agent/prompts/agent-types.ts";
import type { SpawnRequest } from "../../backend/backend.ts";
import { TeamError } from "../../errors.ts";
import { withoutRepository } from "../../git/git.ts";
import { childEnvironment } from "../../launch/agent-environment.ts";
import { type AgentFlags, agentArgv } from "../../launch/agent-flags.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { ownSecrets, redactText, redactValue } from "../../os/redact.ts";
import { rootTag } from "../../protocol/paths.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import { permissionMode, type TeamConfig, type TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { changedMetadata, type PromptOverrides, readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME, newAgentName } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { NewMember } from "../../team/members/members.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { OperationContext } from "../context.ts";
import { leadsMode } from "../permission-mode.ts";
import type { WantedWorktree } from "../worktrees/create-worktree.ts";
import { spawnMode, spawnModel, spawnType } from "./resolve-options.ts";
import { type ShellSnapshot, snapshotVariable } from "./shell-snapshot.ts";

export interface SpawnInput {
  readonly name: string;
  readonly prompt?: string;
  readonly agentType?: string;
  readonly model?: string;
  /** Starts in plan mode: it acts only after the lead approved its plan. */
  readonly plan?: boolean;
  readonly permissionMode?: PermissionMode;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly tools?: readonly string[];
  readonly cwd?: string;
  /** Works in a worktree of its own, in the directory that `cwd` is in the repository. */
  readonly worktree?: WantedWorktree;
  /** What it may spend. */
  readonly budget?: BudgetLimits;
  /** Takes `name-2`, … where the name is taken, instead of refusing. */
  readonly unique?: boolean;
  /** What is said of its system prompt. */
  readonly words?: PromptOverrides;
  /** The most that the spawner may give, where it is a lead's model: its own mode. */
  readonly most?: PermissionMode;
}

/** A member that has joined, and how its process is started. */
export interface Start {
  readonly input: SpawnInput;
  readonly member: TeamMember;
  readonly request: SpawnRequest;
}

/** Where a teammate is to work, whether or not that is there. */
export function workingDirectory(ctx: OperationContext, input: SpawnInput): string {
  return resolve(ctx.cwd, input.cwd ?? ".");
}

/**
 * What joins the team for an input, with what it has of its type and inherits from the lead.
 * @param types those that count where it is to work; the built-in ones without them
 * @param forbidden why bypassPermissions is not to be had: it is refused then, and neither inherited nor had of a type
 * @throws TeamError INVALID_NAME, INVALID_TYPE, INVALID_MODEL, INVALID_INPUT, PERMISSION_DENIED
 */
export function draftMember(
  ctx: OperationContext,
  config: TeamConfig,
  input: SpawnInput,
  {
    types,
    forbidden,
  }: { readonly types?: AgentTypes | undefined; readonly forbidden?: string | undefined } = {},
): NewMember {
  const lead = config.members.find((member) => member.name === LEAD_NAME);
  const type = spawnType(input.agentType, types);
  const mode = spawnMode({ ...input, forbidden }, leadsMode(config), type.permissionMode);
  const cwd = workingDirectory(ctx, input);
  const only = input.tools?.find((tool) => !/^[\w.*-]+$/.test(tool));
  if (only !== undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      `${JSON.stringify(only)} is not a tool's name; ${input.name} was not started.`,
      {
        hint: "--tools takes names; what a tool may be called with is said with --allowed-tools and --disallowed-tools.",
      },
    );
  }
  const noRule = [...(input.allowedTools ?? []), ...(input.disallowedTools ?? [])].find(isNoRule);
  if (noRule !== undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      `${JSON.stringify(noRule)} is not a rule; ${input.name} was not started.`,
      { hint: "Rules look like Edit, Bash(git:*), Read(~/notes/**)." },
    );
  }
  if (!isDirectory(cwd)) {
    throw new TeamError("INVALID_INPUT", `${cwd} is not a directory; ${input.name} was not started.`, {
      hint: "Make it first, or name another with --cwd.",
    });
  }
  return defined({
    name: newAgentName(input.name),
    agentType: type.name,
    model: spawnModel(input.model, lead?.model, ctx.env, type.model),
    color: type.color,
    prompt: redactText(input.prompt ?? "", ownSecrets()),
    planModeRequired: input.plan ?? mode === "plan",
    tmuxPaneId: "",
    cwd,
    mode,
    allowedTools: input.allowedTools?.slice(),
    disallowedTools: input.disallowedTools?.slice(),
    metadata: metadataOf(input, type.file === undefined ? undefined : cwd),
  });
}

function isNoRule(rule: string): boolean {
  return parseRule(rule) === undefined;
}

function metadataOf(
  { tools, worktree, budget = {}, words = {} }: SpawnInput,
  typesIn: string | undefined,
): NewMember["metadata"] {
  return changedMetadata(undefined, {
    tools: tools?.length ? tools.slice() : undefined,
    promptOverrides: Object.keys(words).length > 0 ? redactValue(words, ownSecrets()) : undefined,
    // A worktree holds only committed files, and its branch may have another version of the type.
    typesDirectory: worktree === undefined ? undefined : typesIn,
    budget: Object.keys(budget).length > 0 ? defined(budget) : undefined,
  });
}

/** As what a member is started again: what it was spawned with. */
export function restartInput(member: TeamMember): SpawnInput {
  const { name, allowedTools, disallowedTools } = member;
  return defined({ name, allowedTools, disallowedTools, tools: readMetadata(member, "tools") });
}

/**
 * How a member's process is started.
 * @param again the uuid of this start, and the conversation that it goes on with; a new one of each without it
 */
export function buildStart(
  ctx: OperationContext,
  config: TeamConfig,
  member: TeamMember,
  input: SpawnInput,
  snapshot: ShellSnapshot | undefined,
  again: { readonly instance?: string | undefined; readonly session?: string | undefined } = {},
): Start {
  const paths = ctx.ref.paths.agent(member.name);
  const { instance = randomUUID() } = again;
  const mode = permissionMode.safeParse(member.mode);
  const flags: AgentFlags = defined({
    agentId: member.agentId,
    agentName: member.name,
    teamName: ctx.ref.team as string,
    agentColor: member.color,
    parentSessionId: config.leadSessionId,
    agentType: member.agentType ?? DEFAULT_AGENT_TYPE,
    planModeRequired: member.planModeRequired ?? false,
    permissionMode: mode.success ? mode.data : undefined,
    allowedTools: input.allowedTools?.slice(),
    disallowedTools: input.disallowedTools?.slice(),
    tools: input.tools?.slice(),
    model: member.model,
    resume: again.session,
  });
  const request: SpawnRequest = {
    agentId: member.agentId,
    name: member.name,
    team: ctx.ref.team,
    teamTitle: config.displayName ?? config.name,
    color: member.color ?? "",
    rootTag: rootTag(ctx.home.root),
    instance,
    cwd: member.cwd,
    argv: [...ctx.program, "agent", ...agentArgv(flags)],
    // Its directory says which repository is its own.
    env: childEnvironment(member.worktreePath === undefined ? ctx.env : withoutRepository(ctx.env), {
      ...snapshotVariable(snapshot),
      TEAMS_INSTANCE: instance,
    }),
    paths,
    bells: [readStatus(ctx.ref, LEAD_NAME)?.bell ?? ctx.ref.paths.agent(LEAD_NAME).bell],
  };
  return { input, member, request };
}
