import { isWokenByKeys } from "../adapter/adapter-schema.ts";
import { findAdapter, withoutScreen } from "../adapter/adapters.ts";
import { isScripted } from "../agent/model/model-names.ts";
import { TeamError } from "../errors.ts";
import { checkCli } from "../operations/spawn/check-cli.ts";
import { isInteractive, type LeadCli, type LeadPlan } from "../runtime/lead/lead.ts";
import type { BackendType } from "../schema/config.ts";
import { defined } from "../schema/defined.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { AnyCall } from "../terminal/call.ts";
import { longName } from "../text/terminal-text.ts";
import { type Command, usageError } from "./command.ts";

/** The options that select a third-party CLI. */
interface CliOptions {
  readonly cli: string | undefined;
  readonly acp: boolean;
  readonly native: boolean;
}

/** Returns the name of the third-party CLI. Some have a second adapter: for the Agent Client Protocol, or for their own screen. */
export function cliName(
  command: Pick<Command, "name" | "args">,
  { cli, acp, native }: CliOptions,
): string | undefined {
  if (acp && native) throw usageError(command, "accepts --acp or --native, not both.");
  const form = acp ? "acp" : native ? "native" : undefined;
  if (form === undefined) return cli;
  if (cli === undefined) throw usageError(command, `accepts --${form} only with --cli.`);
  return `${cli}-${form}`;
}

/** The third-party CLI that a run asks for, or that led the team before. */
export interface CliChoice {
  readonly name: string;
  readonly effort: string | undefined;
}

/** Options of a run that a third-party lead cannot have. */
interface OwnOptions {
  readonly model: string | undefined;
  readonly playbook: string | undefined;
  readonly record: string | undefined;
  readonly report: string | undefined;
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly tools: readonly string[];
}

/** @throws TeamError INVALID_INPUT for an option that only our agents have */
export function refuseOwnOptions(cli: string, { model, playbook, record, report, ...own }: OwnOptions): void {
  const { allowedTools, disallowedTools, tools } = own;
  const others = { playbook, record, report, allowedTools, disallowedTools, tools };
  const found = Object.entries(others).find(([, value]) => value !== undefined && value.length > 0);
  if (found === undefined && (model === undefined || !isScripted(model))) return;
  const option = found === undefined ? "--model scripted" : `--${longName(found[0])}`;
  throw new TeamError("INVALID_INPUT", `${cli} cannot lead with ${option}; nothing was started.`, {
    hint: `Leave out ${option} or --cli.`,
  });
}

interface CliRun extends Pick<LeadPlan, "mode" | "promptOverrides" | "budget"> {
  /** The given model. */
  readonly model: string | undefined;
}

/**
 * Checks that a third-party CLI can lead a run with the given options.
 * @throws TeamError INVALID_INPUT, SPAWN_FAILED; nothing was created
 */
export function checkLeadCli(
  { io }: AnyCall,
  { name, effort }: CliChoice,
  { model, mode, promptOverrides, budget }: CliRun,
  { teams, permissions }: Settings,
): LeadCli {
  const plan = (mode ?? permissions.defaultMode) === "plan";
  const sandbox = teams.sandbox.mode;
  const input = defined({ model, effort, plan, promptOverrides, budget, sandbox });
  const { ownScreen, ownInbox, typed } = checkCli(name, input, teams.adapters, io.env);
  if (typed) {
    throw new TeamError(
      "INVALID_INPUT",
      `${name} can only be a teammate: teams only types into its pane, and does not see when its turns end.`,
      { hint: "Nothing was started. Let another CLI lead, and spawn it as a teammate." },
    );
  }
  if (ownInbox) {
    throw new TeamError(
      "INVALID_INPUT",
      `${name} can only be a teammate, because it reads its inbox itself.`,
      {
        hint: `Nothing was started. Let it lead over the Agent Client Protocol: --cli ${name} --acp`,
      },
    );
  }
  if (isWokenByKeys(findAdapter(name, teams.adapters).channel)) {
    throw new TeamError(
      "INVALID_INPUT",
      `${name} can only be a teammate: teams can wake it only in a pane that teams created.`,
      { hint: `Nothing was started. Let it lead without its own screen: ${withoutScreen(name)}` },
    );
  }
  return { name, ownScreen, effort };
}

/**
 * Checks that a CLI with its own screen gets the lead's terminal for itself.
 * @param backend of the teammates
 * @throws TeamError INVALID_INPUT
 */
export function requireOwnTerminal(call: AnyCall, { name, ownScreen }: LeadCli, backend: BackendType): void {
  if (!ownScreen || (isInteractive(call) && backend !== "in-process")) return;
  const why = isInteractive(call)
    ? "its teammates need their own panes or processes"
    : "it needs a terminal, without --json and --quiet";
  throw new TeamError("INVALID_INPUT", `${name} shows its own screen: ${why}. Nothing was started.`, {
    hint: `Run it in tmux, or without a screen: ${withoutScreen(name)}`,
  });
}
