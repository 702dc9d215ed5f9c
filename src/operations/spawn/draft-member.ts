import { resolve } from "node:path";
import { defaultModelName, isScripted, resolveModelName } from "../../agent/model/model-names.ts";
import { parseRule } from "../../agent/permissions/rules.ts";
import {
  type AgentType,
  type AgentTypes,
  DEFAULT_AGENT_TYPE,
  findAgentType,
  ONLY_BUILTIN_TYPES,
} from "../../agent/prompts/agent-types.ts";
import { TeamError } from "../../errors.ts";
import { PLAN_MODE_REQUIRED } from "../../launch/agent-environment.ts";
import type { Env } from "../../os/env.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { ownSecrets, redactText, redactValue } from "../../os/redact.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { changedMetadata, type PromptOverrides } from "../../schema/member-metadata.ts";
import { LEAD_NAME, newAgentName } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { type SandboxMode, stricterMode } from "../../schema/permission-modes.ts";
import type { NewMember } from "../../team/members/members.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { exceedsMode, inheritedMode } from "../permission-mode.ts";
import type { WorktreeOptions } from "../worktrees/create-worktree.ts";
import { requireProjectPlaybook, requireWorktreeRights } from "./model-requests.ts";

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
  /** Facts that the user keeps with it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Gives the teammate its own git worktree; it works there in the directory that corresponds to `cwd`. */
  readonly worktree?: WorktreeOptions;
  /** The teammate's limits. */
  readonly budget?: BudgetLimits;
  /** Uses `name-2`, … if the name is taken, instead of failing. */
  readonly unique?: boolean;
  /** Replaces or extends the system prompt. */
  readonly promptOverrides?: PromptOverrides;
  /** The limit for a spawner that is a lead's model: its own mode. */
  readonly maxMode?: PermissionMode;
  /** Whether its commands run in the sandbox. */
  readonly sandbox?: SandboxMode;
}

/** Returns the directory where a teammate is to work; it may not exist. */
export function workingDirectory(ctx: OperationContext, input: SpawnInput): string {
  return resolve(ctx.cwd, input.cwd ?? ".");
}

interface DraftOptions {
  /** The agent types that apply in its directory; the built-in ones by default. */
  readonly types?: AgentTypes | undefined;
  /** Why bypassPermissions is unavailable: a request for it fails, and the lead's or the type's is replaced. */
  readonly bypassForbidden?: string | undefined;
  /** Short names of models that the user's settings add. */
  readonly modelNames?: Readonly<Record<string, string>> | undefined;
  /** Whether the user trusts a directory. */
  readonly isTrusted?: ((directory: string) => boolean) | undefined;
  /** The sandbox mode of the settings. */
  readonly sandbox?: SandboxMode | undefined;
}

/**
 * Drafts the member for an input, with the values of its type and those that it inherits from the lead.
 * @throws TeamError INVALID_NAME, INVALID_TYPE, INVALID_MODEL, INVALID_INPUT, PERMISSION_DENIED
 */
export function draftMember(
  ctx: OperationContext,
  config: TeamConfig,
  input: SpawnInput,
  { types, bypassForbidden, modelNames, isTrusted, sandbox = "off" }: DraftOptions = {},
): NewMember {
  const lead = config.members.find((member) => member.name === LEAD_NAME);
  const type = spawnType(input.agentType, types);
  const { plansFirst, ...rights } = startRights(ctx, input, type);
  const mode = spawnMode({ ...rights, bypassForbidden }, inheritedMode(config), rights.typeMode);
  const cwd = workingDirectory(ctx, input);
  requireWorktreeRights(input, cwd, isTrusted);
  if (input.maxMode !== undefined) requireProjectPlaybook(input.model, lead?.model, cwd);
  const invalidTool = input.tools?.find((tool) => !/^[\w.*-]+$/.test(tool));
  if (invalidTool !== undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      `${JSON.stringify(invalidTool)} is not a tool's name; ${input.name} was not started.`,
      {
        hint: "--tools takes names only. To restrict a tool's arguments, use --allowed-tools and --disallowed-tools.",
      },
    );
  }
  const invalidRule = [...(input.allowedTools ?? []), ...(input.disallowedTools ?? [])].find(isInvalidRule);
  if (invalidRule !== undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      `${JSON.stringify(invalidRule)} is not a rule; ${input.name} was not started.`,
      { hint: "Rules look like Edit, Bash(git:*), Read(~/notes/**)." },
    );
  }
  if (!isDirectory(cwd)) {
    throw new TeamError("INVALID_INPUT", `${cwd} is not a directory; ${input.name} was not started.`, {
      hint: "Create it first, or choose another with --cwd.",
    });
  }
  return defined({
    name: newAgentName(input.name),
    agentType: type.name,
    model: spawnModel(input.model, lead?.model, ctx.env, { type: type.model, names: modelNames }),
    color: type.color,
    prompt: redactText(input.prompt ?? "", ownSecrets()),
    planModeRequired: plansFirst || mode === "plan",
    tmuxPaneId: "",
    cwd,
    mode,
    allowedTools: unlessEmpty(input.allowedTools),
    disallowedTools: unlessEmpty(input.disallowedTools),
    metadata: metadataOf(
      { ...input, sandbox: spawnSandbox(input, sandbox, type.sandbox) },
      type.file === undefined ? undefined : cwd,
    ),
  });
}

/**
 * Splits plan mode from the other modes: a teammate that plans first has another mode once its plan is approved. The variable is
 * resolved here, so that config, arguments and status show it.
 */
function startRights(
  { env }: OperationContext,
  { permissionMode, ...input }: SpawnInput,
  { permissionMode: typeMode }: AgentType,
): RequestedRights & { readonly plansFirst: boolean; readonly typeMode: PermissionMode | undefined } {
  const isGivenPlan = permissionMode === "plan";
  const isTypesPlan = permissionMode === undefined && typeMode === "plan";
  return {
    ...input,
    permissionMode: isGivenPlan ? undefined : permissionMode,
    typeMode: typeMode === "plan" ? undefined : typeMode,
    plansFirst: input.plan === true || isGivenPlan || isTypesPlan || env[PLAN_MODE_REQUIRED] === "true",
  };
}

/** Returns undefined for an empty list, which would be written as if it restricted something. */
function unlessEmpty(list: readonly string[] | undefined): string[] | undefined {
  return list?.length ? [...list] : undefined;
}

function isInvalidRule(rule: string): boolean {
  return parseRule(rule) === undefined;
}

function metadataOf(
  {
    tools,
    worktree,
    metadata,
    budget = {},
    promptOverrides = {},
    sandbox,
  }: Omit<SpawnInput, "sandbox"> & { readonly sandbox: SandboxMode | undefined },
  typesIn: string | undefined,
): NewMember["metadata"] {
  return changedMetadata(redactValue(metadata, ownSecrets()), {
    tools: unlessEmpty(tools),
    sandbox,
    promptOverrides:
      Object.keys(promptOverrides).length > 0 ? redactValue(promptOverrides, ownSecrets()) : undefined,
    // The worktree contains only committed files, and its branch may have another version of the type.
    typesDirectory: worktree === undefined ? undefined : typesIn,
    budget: Object.keys(budget).length > 0 ? defined(budget) : undefined,
  });
}

/**
 * Finds the agent type of a spawn.
 * @throws TeamError INVALID_TYPE; the hint lists the known types and the reason why a type file does not apply
 */
export function spawnType(given: string | undefined, known: AgentTypes = ONLY_BUILTIN_TYPES): AgentType {
  const found = findAgentType(given ?? DEFAULT_AGENT_TYPE, known.types);
  if (found !== undefined) return found;
  const names = known.types.map(({ name }) => name).join(", ");
  throw new TeamError(
    "INVALID_TYPE",
    `There is no agent type ${JSON.stringify(given)}; nothing was created.`,
    {
      hint: [...fileHints(given ?? "", known), `Types: ${names}.`].join("\n"),
    },
  );
}

/** Says why a type file that the user may have meant does not apply. */
function fileHints(given: string, { problems, ignored }: AgentTypes): string[] {
  const untrusted = ignored.find((path) => path.toLowerCase().endsWith(`/${given.toLowerCase()}.md`));
  if (untrusted === undefined) return problems.map((problem) => `Not an agent type: ${problem}.`);
  const project = untrusted.replace(/\/\.claude\/agents\/[^/]*$/, "");
  return [`${untrusted} applies only after: teams trust ${shellWord(project)}`];
}

/**
 * Selects the model of a spawn: the given one, else the type's. For `inherit`, or if neither is set, the lead's model applies;
 * a lead that is a person has none, so the environment decides.
 * @returns the full name, so that a later change of the short names does not change the member
 * @throws TeamError INVALID_MODEL
 */
export function spawnModel(
  given: string | undefined,
  leadModel: string | undefined,
  env: Env,
  { type, names }: { readonly type?: string | undefined; readonly names?: DraftOptions["modelNames"] } = {},
): string {
  const requested = given ?? type;
  const name =
    requested === undefined || requested === "inherit" ? (leadModel ?? defaultModelName(env)) : requested;
  // A playbook's path may contain any character; every other name becomes part of a request.
  return isScripted(name) ? name : resolveModelName(name, names);
}

/**
 * Selects the sandbox mode of a spawn that the settings do not give anyway: the requested one, else the type's, if that is
 * stricter.
 * @throws TeamError PERMISSION_DENIED for a weaker mode than `required` in the settings, or than a lead's model may choose
 */
function spawnSandbox(
  { name, sandbox, maxMode }: SpawnInput,
  setting: SandboxMode,
  typeMode: SandboxMode = "off",
): SandboxMode | undefined {
  const isWeaker = sandbox !== undefined && stricterMode(sandbox, setting) !== sandbox;
  if (isWeaker && (setting === "required" || maxMode !== undefined)) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `teams.sandbox.mode is ${setting}, so ${name} cannot have the sandbox ${sandbox}; it was not started.`,
      { hint: "Leave out --sandbox, or change the setting." },
    );
  }
  const mode = sandbox ?? stricterMode(setting, typeMode);
  return mode === setting ? undefined : mode;
}

/** The rights that a spawn requests, and their limits. */
interface RequestedRights {
  readonly name: string;
  readonly permissionMode?: PermissionMode | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  /** The limit for a lead's model: its own mode. A person has no limit (protocol.md section 6). */
  readonly maxMode?: PermissionMode | undefined;
  /** Why bypassPermissions is unavailable. */
  readonly bypassForbidden?: string | undefined;
}

/**
 * Selects the mode of a spawn: the requested one, else the type's, else the lead's. A type cannot exceed the spawner's limit.
 * @throws TeamError PERMISSION_DENIED if a lead's model requests more than its own rights, or if the mode is forbidden
 */
export function spawnMode(
  { name, permissionMode, allowedTools, maxMode, bypassForbidden }: RequestedRights,
  leadMode: PermissionMode,
  typeMode?: PermissionMode | undefined,
): PermissionMode {
  const isUnavailable = (mode: PermissionMode): boolean =>
    mode === "bypassPermissions" && bypassForbidden !== undefined;
  if (permissionMode !== undefined && isUnavailable(permissionMode)) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `bypassPermissions is forbidden by ${bypassForbidden}; ${name} was not started.`,
      { hint: "Choose another mode: --permission-mode acceptEdits" },
    );
  }
  const exceedsLimit = (mode: PermissionMode): boolean => maxMode !== undefined && exceedsMode(mode, maxMode);
  if (permissionMode !== undefined && exceedsLimit(permissionMode)) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `You work in mode ${maxMode} and cannot start ${name} in ${permissionMode}.`,
      { hint: "Leave out the mode; the teammate then gets yours." },
    );
  }
  if (allowedTools?.length && exceedsLimit("bypassPermissions")) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `You work in mode ${maxMode} and cannot let ${name} use ${allowedTools.join(", ")} unasked.`,
      { hint: "Leave out the allowed tools; the teammate then asks when you would be asked." },
    );
  }
  const mode =
    permissionMode ??
    (typeMode === undefined || exceedsLimit(typeMode) || isUnavailable(typeMode) ? leadMode : typeMode);
  return isUnavailable(mode) ? "default" : mode;
}
