import {
  type Adapter,
  type AdapterInput,
  hasOwnInbox,
  hasOwnScreen,
  isTyped,
  runsInSandbox,
} from "../../adapter/adapter-schema.ts";
import { findAdapter, withoutScreen } from "../../adapter/adapters.ts";
import { isBareShell } from "../../adapter/keys/program-words.ts";
import { takesEffort } from "../../adapter/option-args.ts";
import { requireProgram } from "../../adapter/require-program.ts";
import { isScripted } from "../../agent/model/model-names.ts";
import { requestRefusal } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { findProgram } from "../../os/files/access.ts";
import { isShellFile } from "../../os/process/shells.ts";
import { agentFileName } from "../../protocol/paths.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { teamsHome } from "../../team/ref.ts";
import type { CheckedCli, SpawnInput } from "./draft-member.ts";

/** The options of a spawn for a CLI; a lead's name is fixed. */
type CliInput = Omit<SpawnInput, "name"> & Partial<Pick<SpawnInput, "name">>;

/**
 * Checks that a third-party CLI is known and installed, and that it can do what a spawn asks for.
 * @param own adapters of the settings
 * @throws TeamError INVALID_INPUT, SPAWN_FAILED; nothing was started
 */
export function checkCli(
  cli: string,
  input: CliInput,
  own: Readonly<Record<string, AdapterInput>>,
  env: Env,
): CheckedCli {
  const adapter = findAdapter(cli, own);
  const refused =
    (hasOwnInbox(adapter.channel) ? ownInboxRefusal(input) : undefined) ??
    (isTyped(adapter.channel) ? typedRefusal(input) : undefined) ??
    sandboxRefusal(adapter, input) ??
    writesRefusal(input) ??
    refusalOf(adapter, input);
  if (refused !== undefined) {
    const { option, why, ...options } = refused;
    throw requestRefusal(
      "INVALID_INPUT",
      `${cli} cannot be started with ${option}: ${why}`,
      "nothing was started",
      options,
    );
  }
  if (isTyped(adapter.channel)) refuseShell(adapter, env);
  if (hasOwnInbox(adapter.channel)) requireOwnRoot(adapter, env);
  requireProgram(adapter, env);
  const { channel } = adapter;
  return { ownScreen: hasOwnScreen(channel), ownInbox: hasOwnInbox(channel), typed: isTyped(channel) };
}

/**
 * Refuses a third-party CLI in a version that its channel does not know. Its program runs once, and prints its version.
 * @param own adapters of the settings
 * @throws TeamError SPAWN_FAILED; nothing was started
 */
export async function checkCliVersion(
  cli: string,
  own: Readonly<Record<string, AdapterInput>>,
  env: Env,
  signal?: AbortSignal,
): Promise<void> {
  const { refuseUnsupported } = await import("../../adapter/installed/version-check.ts");
  await refuseUnsupported(cli, own, env, signal);
}

/** Returns the first option that a CLI which reads its inbox itself cannot have. */
function ownInboxRefusal({ name = LEAD_NAME, budget = {} }: CliInput): Refusal | undefined {
  const hint = "Use --acp.";
  if (agentFileName(name) !== name)
    return { option: `the name ${name}`, why: "its name may contain only letters, digits, - and _" };
  if (budget.maxTokens !== undefined || budget.maxCostUsd !== undefined)
    return {
      option: "--max-tokens or --max-cost",
      why: "teams counts its tokens, but cannot stop it at a limit",
      hint,
    };
  return undefined;
}

/** Refuses a required sandbox to a CLI that cannot run inside. The mode can come from the settings or the agent type too. */
function sandboxRefusal({ id, channel }: Adapter, { sandbox }: CliInput): Refusal | undefined {
  if (sandbox !== "required" || runsInSandbox(channel)) return undefined;
  return {
    option: "--sandbox required",
    why: "it does not run in a sandbox that teams provides",
    hint: `Start it without its own screen: ${withoutScreen(id)}. If you did not pass --sandbox, its agent type or teams.sandbox.mode requires it.`,
  };
}

function writesRefusal({ writes }: CliInput): Refusal | undefined {
  if (writes === undefined) return undefined;
  return {
    option: "writes",
    why: "teams limits only the writes of its own agents",
    details: { field: "writes" },
  };
}

/** @throws TeamError INVALID_INPUT for a shell, which would run each message as a command */
function refuseShell({ id, command, args }: Adapter, env: Env): void {
  const file = findProgram(command, env);
  if (!isBareShell([command, ...args], file !== undefined && isShellFile(file))) return;
  throw requestRefusal(
    "INVALID_INPUT",
    `${id} is a shell, which would run each message as a command`,
    "nothing was started",
    { hint: "Name the program that the shell would start, or add a script to its args." },
  );
}

/** Returns the first option that teams cannot apply to a program that it only types to: it sees no requests, costs or modes. */
function typedRefusal(input: CliInput): Refusal | undefined {
  const { permissionMode, plan, allowedTools = [], disallowedTools = [], budget = {} } = input;
  const rules = "teams only types to it and does not see its requests";
  const hint = "Restrict it by its own options, in the args of its adapter.";
  if (permissionMode !== undefined && permissionMode !== "default")
    return { option: `--permission-mode ${permissionMode}`, why: rules, hint };
  if (plan === true) return { option: "--plan or in plan mode", why: rules, hint };
  if (allowedTools.length > 0) return { option: "--allowed-tools", why: rules, hint };
  if (disallowedTools.length > 0) return { option: "--disallowed-tools", why: rules, hint };
  if (budget.maxTokens !== undefined || budget.maxCostUsd !== undefined)
    return {
      option: "--max-tokens or --max-cost",
      why: "teams only types to it and does not see what it spends",
    };
  return undefined;
}

/**
 * Checks the root of a CLI that reads its inbox itself: it uses the files of the root that its own environment names.
 * @throws TeamError INVALID_INPUT for another root
 */
function requireOwnRoot({ id, env: own }: Adapter, outer: Env): void {
  const { root } = teamsHome(outer);
  const { TEAMS_HOME: _, ...env } = { ...outer, ...own };
  const used = teamsHome(env).root;
  if (used === root) return;
  throw requestRefusal(
    "INVALID_INPUT",
    `${id} looks for its team in ${used}, but this team is in ${root}`,
    "nothing was started",
    { hint: "Set CLAUDE_CONFIG_DIR instead of TEAMS_HOME, or start it without its own screen: --acp" },
  );
}

/** An option that a CLI cannot have. */
interface Refusal {
  readonly option: string;
  readonly why: string;
  readonly hint?: string;
  /** The field of a declared member that caused it, if that is not its CLI. */
  readonly details?: { readonly field: string };
}

/** Returns the first option that neither teams applies itself nor the adapter passes to this CLI. */
function refusalOf(adapter: Adapter, input: CliInput): Refusal | undefined {
  const { tools = [], promptOverrides, plan, model, effort, budget = {} } = input;
  const { efforts, reports } = adapter;
  if (tools.length > 0)
    return { option: "--tools", why: "it has its own tools", hint: "Use --disallowed-tools." };
  if (promptOverrides?.override !== undefined) {
    const hint = "Use --append-system-prompt.";
    return { option: "--system-prompt", why: "it has its own system prompt", hint };
  }
  if (plan === true && adapter.modes.plan === undefined)
    return { option: "--plan or in plan mode", why: "it has no plan mode" };
  if (model !== undefined) {
    const option = `--model ${model}`;
    if (isScripted(model)) return { option, why: "it cannot play playbooks" };
    if (adapter.modelArgs === undefined)
      return { option, why: "it has no option for the model", hint: "Choose the model in its own settings." };
    // The CLI could read it as an option, for example as one for all permissions.
    if (!/^[^-\s\p{C}][^\s\p{C}]*$/u.test(model)) return { option, why: "that is not the name of a model" };
  }
  if (effort !== undefined) {
    const option = `--effort ${effort}`;
    if (!takesEffort(adapter)) return { option, why: "it has no option for the effort" };
    if (!efforts.includes(effort)) return { option, why: `it supports ${efforts.join(", ")}` };
  }
  const isReported = (what: "tokens" | "cost"): boolean => reports.includes(what);
  const reportHint = (what: "tokens" | "cost"): string =>
    `If it does, add "${what}" to "reports" in its entry under teams.adapters.`;
  if (budget.maxTokens !== undefined && !isReported("tokens"))
    return { option: "--max-tokens", why: "it does not report its tokens", hint: reportHint("tokens") };
  if (budget.maxCostUsd !== undefined && !isReported("cost"))
    return { option: "--max-cost", why: "it does not report its cost", hint: reportHint("cost") };
  return undefined;
}
