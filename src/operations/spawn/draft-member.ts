import { resolve } from "node:path";
import { defaultModelName, isScripted, resolveModelName } from "../../agent/model/model-names.ts";
import { parseRule } from "../../agent/permissions/rules.ts";
import {
  type AgentType,
  type AgentTypes,
  BUILTIN_TYPES_ALONE,
  DEFAULT_AGENT_TYPE,
  findAgentType,
} from "../../agent/prompts/agent-types.ts";
import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { maskText, maskValue, ownSecrets } from "../../os/redact.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { changedMetadata, type PromptOverrides } from "../../schema/member-metadata.ts";
import { LEAD_NAME, newAgentName } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { NewMember } from "../../team/members/members.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { exceedsMode, inheritedMode } from "../permission-mode.ts";
import type { WorktreeRequest } from "../worktrees/create-worktree.ts";

/**
 * The agent type of a spawn.
 * @throws TeamError INVALID_TYPE, with the types that there are, and why a file with this name is none
 */
export function spawnType(given: string | undefined, known: AgentTypes = BUILTIN_TYPES_ALONE): AgentType {
  const found = findAgentType(given ?? DEFAULT_AGENT_TYPE, known.types);
  if (found !== undefined) return found;
  const names = known.types.map(({ name }) => name).join(", ");
  throw new TeamError("INVALID_TYPE", `There is no agent type ${JSON.stringify(given)}; nothing was made.`, {
    hint: [...fileHints(given ?? "", known), `Types: ${names}.`].join("\n"),
  });
}

/** What is known of files that may be meant. */
function fileHints(given: string, { flaws, ignored }: AgentTypes): string[] {
  const untrusted = ignored.find((path) => path.toLowerCase().endsWith(`/${given.toLowerCase()}.md`));
  if (untrusted === undefined) return flaws.map((flaw) => `No type: ${flaw}.`);
  const project = untrusted.replace(/\/\.claude\/agents\/[^/]*$/, "");
  return [`${untrusted} counts only after: teams trust ${shellWord(project)}`];
}

/**
 * The model of a spawn: as given, else the type's; with `inherit` and without a word the lead's; a lead that is a person has
 * none, and the environment decides. @throws TeamError INVALID_MODEL
 */
export function spawnModel(
  given: string | undefined,
  leads: string | undefined,
  env: Env,
  types?: string | undefined,
): string {
  const wanted = given ?? types;
  const name = wanted === undefined || wanted === "inherit" ? (leads ?? defaultModelName(env)) : wanted;
  // A playbook's path may hold anything; every other name becomes part of a request.
  if (!isScripted(name)) resolveModelName(name);
  return name;
}

/** What a spawner says of a teammate's rights, and what it may say. */
interface RequestedRights {
  readonly name: string;
  readonly permissionMode?: PermissionMode | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  /** The most that it can give, where it is a lead's model: its own mode. A person can give any (protocol.md section 6). */
  readonly maxMode?: PermissionMode | undefined;
  /** Why bypassPermissions is not to be had. */
  readonly bypassForbidden?: string | undefined;
}

/**
 * The mode of a spawn: as given, else the type's, else the lead's. A type gives no more than whoever names it could.
 * @throws TeamError PERMISSION_DENIED for what a lead's model asks beyond its own rights, and for what is forbidden
 */
export function spawnMode(
  { name, permissionMode, allowedTools, maxMode: most, bypassForbidden: forbidden }: RequestedRights,
  leads: PermissionMode,
  types?: PermissionMode | undefined,
): PermissionMode {
  const lacks = (mode: PermissionMode): boolean => mode === "bypassPermissions" && forbidden !== undefined;
  if (permissionMode !== undefined && lacks(permissionMode)) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `bypassPermissions is forbidden by ${forbidden}; ${name} was not started.`,
      { hint: "Name another: --permission-mode acceptEdits" },
    );
  }
  const beyond = (mode: PermissionMode): boolean => most !== undefined && exceedsMode(mode, most);
  if (permissionMode !== undefined && beyond(permissionMode)) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `You work in mode ${most} and cannot start ${name} in ${permissionMode}.`,
      { hint: "Leave the mode out: the teammate then has yours." },
    );
  }
  if (allowedTools?.length && beyond("bypassPermissions")) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `You work in mode ${most} and cannot let ${name} use ${allowedTools.join(", ")} unasked.`,
      { hint: "Leave the allowed tools out: the teammate then asks where you would be asked." },
    );
  }
  const mode = permissionMode ?? (types === undefined || beyond(types) || lacks(types) ? leads : types);
  return mode === "delegate" || lacks(mode) ? "default" : mode;
}

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
  readonly worktree?: WorktreeRequest;
  /** What it may spend. */
  readonly budget?: BudgetLimits;
  /** Takes `name-2`, … where the name is taken, instead of refusing. */
  readonly unique?: boolean;
  /** What is said of its system prompt. */
  readonly promptOverrides?: PromptOverrides;
  /** The most that the spawner may give, where it is a lead's model: its own mode. */
  readonly maxMode?: PermissionMode;
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
  const mode = spawnMode(
    { ...input, bypassForbidden: forbidden },
    inheritedMode(config),
    type.permissionMode,
  );
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
  const noRule = [...(input.allowedTools ?? []), ...(input.disallowedTools ?? [])].find(isInvalidRule);
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
    prompt: maskText(input.prompt ?? "", ownSecrets()),
    planModeRequired: input.plan ?? mode === "plan",
    tmuxPaneId: "",
    cwd,
    mode,
    allowedTools: input.allowedTools?.slice(),
    disallowedTools: input.disallowedTools?.slice(),
    metadata: metadataOf(input, type.file === undefined ? undefined : cwd),
  });
}

function isInvalidRule(rule: string): boolean {
  return parseRule(rule) === undefined;
}

function metadataOf(
  { tools, worktree, budget = {}, promptOverrides: words = {} }: SpawnInput,
  typesIn: string | undefined,
): NewMember["metadata"] {
  return changedMetadata(undefined, {
    tools: tools?.length ? tools.slice() : undefined,
    promptOverrides: Object.keys(words).length > 0 ? maskValue(words, ownSecrets()) : undefined,
    // A worktree holds only committed files, and its branch may have another version of the type.
    typesDirectory: worktree === undefined ? undefined : typesIn,
    budget: Object.keys(budget).length > 0 ? defined(budget) : undefined,
  });
}
