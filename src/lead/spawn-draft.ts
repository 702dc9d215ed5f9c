import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import * as z from "zod/mini";
import type { SpawnRequest } from "../backend/backend.ts";
import { TeamError } from "../errors.ts";
import { withoutRepository } from "../git/git.ts";
import { childEnvironment } from "../launch/environment.ts";
import { type AgentFlags, agentArgv } from "../launch/flags.ts";
import { isDirectory } from "../os/fs.ts";
import { rootTag } from "../protocol/paths.ts";
import { permissionMode, type TeamConfig, type TeamMember } from "../schema/config.ts";
import { defined } from "../schema/defined.ts";
import { LEAD_NAME, newAgentName } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import type { NewMember } from "../team/members.ts";
import { readStatus } from "../team/records.ts";
import { modeToInherit } from "../team/restarts.ts";
import type { LeadContext } from "./context.ts";
import { type ShellSnapshot, snapshotVariable } from "./shell-snapshot.ts";
import { spawnModel, spawnType } from "./spawn-settings.ts";
import type { WantedWorktree } from "./worktree-start.ts";

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
  /** Takes `name-2`, … where the name is taken, instead of refusing. */
  readonly unique?: boolean;
}

/** A member that has joined, and how its process is started. */
export interface Start {
  readonly input: SpawnInput;
  readonly member: TeamMember;
  readonly request: SpawnRequest;
}

/**
 * What joins the team for an input, with what it inherits from the lead.
 * @param forbidden why bypassPermissions is not to be had: it is refused then, and not inherited
 * @throws TeamError INVALID_NAME, INVALID_TYPE, INVALID_MODEL, INVALID_INPUT, PERMISSION_DENIED
 */
export function draftOf(
  ctx: LeadContext,
  config: TeamConfig,
  input: SpawnInput,
  forbidden?: string | undefined,
): NewMember {
  const lead = config.members.find((member) => member.name === LEAD_NAME);
  const mode = modeOf(input, lead, forbidden);
  const cwd = resolve(ctx.cwd, input.cwd ?? ".");
  if (!isDirectory(cwd)) {
    throw new TeamError("INVALID_INPUT", `${cwd} is no directory; ${input.name} was not started.`, {
      hint: "Make it first, or name another with --cwd.",
    });
  }
  return defined({
    name: newAgentName(input.name),
    agentType: spawnType(input.agentType),
    model: spawnModel(input.model, lead?.model, ctx.env),
    prompt: input.prompt ?? "",
    planModeRequired: input.plan ?? mode === "plan",
    tmuxPaneId: "",
    cwd,
    mode,
    allowedTools: input.allowedTools?.slice(),
    disallowedTools: input.disallowedTools?.slice(),
    metadata: input.tools?.length ? { [TOOLS]: input.tools.slice() } : undefined,
  });
}

function modeOf(
  { name, permissionMode: given }: SpawnInput,
  lead: TeamMember | undefined,
  forbidden: string | undefined,
): PermissionMode {
  if (given === "bypassPermissions" && forbidden !== undefined) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `bypassPermissions is forbidden by ${forbidden}; ${name} was not started.`,
      { hint: "Name another: --permission-mode acceptEdits" },
    );
  }
  const mode = given ?? (lead && modeToInherit(lead)) ?? "default";
  return mode === "delegate" || (mode === "bypassPermissions" && forbidden !== undefined) ? "default" : mode;
}

/** Key in a member's metadata: the only tools that it has, for when it is started again. */
const TOOLS = "_tools";

/** As what a member is started again: what it was spawned with. */
export function inputOf({ name, allowedTools, disallowedTools, metadata }: TeamMember): SpawnInput {
  const tools = z.optional(z.array(z.string())).safeParse(metadata?.[TOOLS]);
  return defined({ name, allowedTools, disallowedTools, tools: tools.success ? tools.data : undefined });
}

/**
 * How a member's process is started.
 * @param again the uuid of this start, and the conversation that it goes on with; a new one of each without it
 */
export function startOf(
  ctx: LeadContext,
  config: TeamConfig,
  member: TeamMember,
  input: SpawnInput,
  snapshot: ShellSnapshot | undefined,
  again: { readonly instance?: string; readonly session?: string | undefined } = {},
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
    agentType: member.agentType ?? spawnType(undefined),
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
