import { resolve } from "node:path";
import { defaultModelName, isScripted, resolveModelName, SCRIPTED } from "../../agent/model/model-names.ts";
import {
  type AgentType,
  type AgentTypes,
  DEFAULT_AGENT_TYPE,
  findAgentType,
  ONLY_BUILTIN_TYPES,
} from "../../agent/prompts/agent-types.ts";
import { requestRefusal, TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { ownSecrets, redactText, redactValue } from "../../os/redact.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import type { AdoptedProgram } from "../../schema/member-metadata.ts";
import { changedMetadata, type PromptOverrides, readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME, newAgentName } from "../../schema/names.ts";
import { modeOfMember, type PermissionMode, type SandboxMode } from "../../schema/permission-modes.ts";
import type { NewMember } from "../../team/members/members.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { inheritedMode } from "../permission-mode.ts";
import type { WorktreeOptions } from "../worktrees/create-worktree.ts";
import { requireCliRights, requireProjectPlaybook, requireWorktreeRights } from "./model-requests.ts";
import { requireOpenType, spawnSandbox } from "./requirements.ts";
import { spawnMode, startRights } from "./spawn-mode.ts";
import {
  limitWords,
  recordedLimits,
  requireValidTools,
  type ToolLimits,
  withLimitsOf,
} from "./tool-limits.ts";

export interface SpawnInput extends ToolLimits {
  readonly name: string;
  readonly prompt?: string;
  readonly agentType?: string;
  readonly model?: string;
  /** Starts in plan mode: it acts only after the lead has approved its plan. */
  readonly plan?: boolean;
  readonly permissionMode?: PermissionMode;
  /** Patterns of the only files that it may write, relative to its directory. */
  readonly writes?: readonly string[];
  readonly cwd?: string;
  /** Facts that the user keeps with it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Gives the teammate its own git worktree; it works there in the directory that corresponds to `cwd`. */
  readonly worktree?: WorktreeOptions;
  /** The teammate's limits. */
  readonly budget?: BudgetLimits;
  /** Records its screen, into this directory. */
  readonly recording?: string;
  /** Uses `name-2`, … if the name is taken, instead of failing. */
  readonly unique?: boolean;
  /** Replaces or extends the system prompt. */
  readonly promptOverrides?: PromptOverrides;
  /** The limit for a spawner that is a lead's model: its own mode. */
  readonly maxMode?: PermissionMode;
  /** Whether its commands run in the sandbox. */
  readonly sandbox?: SandboxMode;
  /** The third-party CLI that runs instead of our agent. */
  readonly cli?: string;
  /** The reasoning effort of that CLI's model. */
  readonly effort?: string;
  /** A program that a person started, and that becomes this member. */
  readonly adopted?: AdoptedProgram;
}

/** Returns the directory where a teammate is to work; it may not exist. */
export function workingDirectory(ctx: OperationContext, input: Pick<SpawnInput, "cwd">): string {
  return resolve(ctx.cwd, input.cwd ?? ".");
}

/** A third-party CLI that can be started. */
export interface CheckedCli {
  /** Its screen is the pane. */
  readonly ownScreen: boolean;
  /** It reads its inbox and writes its messages itself. */
  readonly ownInbox: boolean;
  /** Its messages are typed into its pane. */
  readonly typed: boolean;
}

export interface DraftOptions {
  /** The agent types that apply in its directory; the built-in ones by default. */
  readonly types?: AgentTypes | undefined;
  /** Why bypassPermissions is unavailable: a request for it fails, and the lead's or the type's is replaced. */
  readonly bypassForbidden?: string | undefined;
  /** Short names of models that the user's settings add. */
  readonly modelNames?: Readonly<Record<string, string>> | undefined;
  /** Whether the user trusts a directory; needed for worktrees that a model requests. */
  readonly isTrusted?: ((directory: string) => boolean) | undefined;
  /** The sandbox mode of the settings. */
  readonly sandbox?: SandboxMode | undefined;
  /** Checks that a third-party CLI can be started for an input. @throws TeamError INVALID_INPUT, SPAWN_FAILED */
  readonly checkCli?: ((cli: string, input: SpawnInput) => CheckedCli) | undefined;
  /** Checks a CLI's version, for which its program runs: after all other checks. @throws TeamError SPAWN_FAILED */
  readonly checkVersion?: ((cli: string) => Promise<void>) | undefined;
  /** Whether a model may start a third-party CLI for an input; by default it may not. */
  readonly mayStartCli?: ((cli: string, input: SpawnInput) => boolean) | undefined;
}

/**
 * Drafts the member for an input, with the values of its type and those that it inherits from the lead.
 * @throws TeamError INVALID_NAME, INVALID_TYPE, INVALID_MODEL, INVALID_INPUT, PERMISSION_DENIED
 */
export function draftMember(
  ctx: OperationContext,
  config: TeamConfig,
  given: SpawnInput,
  { types, bypassForbidden, modelNames, isTrusted, sandbox = "off", ...options }: DraftOptions = {},
): NewMember {
  const lead = config.members.find((member) => member.name === LEAD_NAME);
  // Our agents cannot use the model of a CLI.
  const leadCli = lead && readMetadata(lead, "cli");
  const leadModel = leadCli === undefined ? lead?.model : undefined;
  const type = spawnType(given.agentType, types);
  const own = withCliOf(type, given);
  const { plansFirst, ...rights } = startRights(ctx, own, type);
  const limits = own.maxMode === undefined || lead === undefined ? {} : recordedLimits(lead);
  // Only for the member, not for `rights`: the lead's own allowed tools are not a request of its model.
  const input = withLimitsOf(own, limits);
  const mode = spawnMode({ ...rights, bypassForbidden }, inheritedMode(config), rights.typeMode);
  const cwd = workingDirectory(ctx, input);
  requireWorktreeRights(input, cwd, isTrusted);
  if (input.maxMode !== undefined) requireProjectPlaybook(input.model, lead?.model, cwd);
  requireValidTools(input.name, input);
  const model =
    input.cli === undefined
      ? spawnModel(input.model, leadModel, ctx.env, { type: type.model, names: modelNames })
      : // The name of its own default model is not known.
        (input.model ?? input.cli);
  if (leadCli !== undefined && input.maxMode !== undefined) requireModel(input, model, leadCli);
  const plans = plansFirst || mode === "plan";
  const sandboxMode = spawnSandbox(input, sandbox, type.sandbox);
  const inSandbox = modeOfMember(sandbox, sandboxMode);
  const checked = checkedCli({ ...own, plan: plans, sandbox: inSandbox }, limits, options);
  if (checked?.typed === true) requireOpenType(input.name, type);
  if (!isDirectory(cwd)) {
    throw requestRefusal("INVALID_INPUT", `${cwd} is not a directory`, `${input.name} was not started`, {
      hint: "Create it first, or choose another with --cwd.",
      details: { field: "cwd" },
    });
  }
  return defined({
    name: newAgentName(input.name),
    agentType: type.name,
    model,
    color: type.color,
    prompt: redactText(input.prompt ?? "", ownSecrets()),
    planModeRequired: plans,
    tmuxPaneId: "",
    cwd,
    mode,
    allowedTools: unlessEmpty(input.allowedTools),
    disallowedTools: unlessEmpty(input.disallowedTools),
    metadata: metadataOf(
      { ...input, ...checked, sandbox: sandboxMode },
      type.file === undefined ? undefined : cwd,
    ),
  });
}

/** Refuses a teammate that would only play the built-in audit: with a CLI as the lead, no model may be set up. */
function requireModel({ name }: SpawnInput, model: string, leadCli: string): void {
  if (model !== SCRIPTED) return;
  throw new TeamError(
    "INVALID_MODEL",
    `No model is set up for teams' own agents, so ${name} was not started.`,
    { hint: `Name a CLI in \`cli\`, such as ${leadCli}, or ask the user to set ANTHROPIC_API_KEY.` },
  );
}

/** Adds the CLI of the type. The type's model is for that CLI, or for our own agents if it names none. */
function withCliOf({ cli, model, effort }: AgentType, input: SpawnInput): SpawnInput {
  if (input.cli !== undefined || cli === undefined) return input;
  const own = { model: model === "inherit" ? undefined : model, effort };
  return { ...defined(own), ...input, cli };
}

/** @param limits of the lead; they are checked last, so that their error can name the lead */
function checkedCli(
  { cli, ...input }: SpawnInput,
  limits: ToolLimits,
  { checkCli, mayStartCli }: DraftOptions,
): CheckedCli | undefined {
  if (cli === undefined) {
    if (input.effort === undefined) return undefined;
    throw requestRefusal(
      "INVALID_INPUT",
      "teams' own agents have no effort setting",
      `${input.name} was not started`,
      { hint: "Leave --effort out, or add --cli." },
    );
  }
  const checked = checkCli?.(cli, input);
  requireCliRights(cli, input, mayStartCli);
  if (Object.keys(limits).length === 0) return checked;
  try {
    return checkCli?.(cli, withLimitsOf(input, limits));
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    throw new TeamError(error.code, error.message, {
      hint: `The limits of the lead apply to its teammates: ${limitWords(limits)}. Leave the CLI out.`,
      cause: error,
    });
  }
}

/** Returns undefined for an empty list, which would be written as if it restricted something. */
function unlessEmpty(list: readonly string[] | undefined): string[] | undefined {
  return list?.length ? [...list] : undefined;
}

function metadataOf(
  {
    tools,
    writes,
    worktree,
    metadata,
    budget = {},
    promptOverrides = {},
    sandbox,
    cli,
    effort,
    ownScreen,
    ownInbox,
    typed,
    adopted,
    recording,
  }: Omit<SpawnInput, "sandbox"> & Partial<CheckedCli> & { readonly sandbox: SandboxMode | undefined },
  typesIn: string | undefined,
): NewMember["metadata"] {
  return changedMetadata(redactValue(metadata, ownSecrets()), {
    tools: tools?.slice(),
    // Kept if it is empty: such a member may write nothing.
    writes: writes?.slice(),
    sandbox,
    cli,
    effort,
    ownScreen: ownScreen === true ? true : undefined,
    ownInbox: ownInbox === true ? true : undefined,
    typed: typed === true ? true : undefined,
    adopted,
    recording,
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
  throw requestRefusal(
    "INVALID_TYPE",
    `There is no agent type ${JSON.stringify(given)}`,
    "nothing was created",
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
