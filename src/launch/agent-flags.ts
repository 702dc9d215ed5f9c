import { TeamError } from "../errors.ts";
import { PERMISSION_MODES, type PermissionMode } from "../schema/permission-modes.ts";
import { toolList } from "../schema/tool-names.ts";

/** The options of a teammate's command line (protocol.md section 6, the `--agent-*` chain). */
export interface AgentFlags {
  /** `<name>@<team>` */
  readonly agentId: string;
  readonly agentName: string;
  readonly teamName: string;
  readonly agentColor?: string;
  readonly parentSessionId: string;
  readonly agentType: string;
  readonly planModeRequired: boolean;
  /** `bypassPermissions` becomes `--dangerously-skip-permissions`. */
  readonly permissionMode?: PermissionMode;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly tools?: readonly string[];
  readonly addDirs?: readonly string[];
  readonly model?: string;
  /** A third-party CLI runs instead of our agent, and draws on the terminal itself. */
  readonly ownScreen?: true;
  /** The agent counts as ready only once its third-party CLI runs. */
  readonly awaitsProgram?: true;
  /** Id of the session whose conversation to continue. */
  readonly resume?: string;
}

/** Returns the arguments of a teammate's process; no shell reads them. */
export function agentArgv(flags: AgentFlags): string[] {
  const list = (name: string, values: readonly string[] | undefined) =>
    values === undefined || values.length === 0 ? [] : [name, values.join(",")];
  const one = (name: string, value: string | undefined) => (value === undefined ? [] : [name, value]);
  return [
    ...one("--agent-id", flags.agentId),
    ...one("--agent-name", flags.agentName),
    ...one("--team-name", flags.teamName),
    ...one("--agent-color", flags.agentColor),
    ...one("--parent-session-id", flags.parentSessionId),
    ...one("--agent-type", flags.agentType),
    ...(flags.planModeRequired ? ["--plan-mode-required"] : []),
    ...(flags.permissionMode === "bypassPermissions"
      ? ["--dangerously-skip-permissions"]
      : one("--permission-mode", flags.permissionMode)),
    ...(flags.ownScreen === undefined ? [] : ["--own-screen"]),
    ...(flags.awaitsProgram === undefined ? [] : ["--awaits-program"]),
    ...list("--allowedTools", flags.allowedTools),
    ...list("--disallowedTools", flags.disallowedTools),
    ...list("--tools", flags.tools),
    ...(flags.addDirs ?? []).flatMap((dir) => ["--add-dir", dir]),
    ...one("--model", flags.model),
    ...one("--resume", flags.resume),
  ];
}

const ALIASES: Readonly<Record<string, string>> = {
  "--allowed-tools": "--allowedTools",
  "--disallowed-tools": "--disallowedTools",
};

const SWITCHES = new Set([
  "--plan-mode-required",
  "--dangerously-skip-permissions",
  "--own-screen",
  "--awaits-program",
]);

const WITH_VALUE = new Set([
  "--agent-id",
  "--agent-name",
  "--team-name",
  "--agent-color",
  "--parent-session-id",
  "--agent-type",
  "--permission-mode",
  "--allowedTools",
  "--disallowedTools",
  "--tools",
  "--add-dir",
  "--model",
  "--resume",
]);

/**
 * Parses a teammate's arguments. Ignores unknown flags, which newer programs may pass. A value may begin with `-`.
 * @throws TeamError INVALID_INPUT if a flag has no value, the permission mode is unknown, or the agent's id, name or team is missing
 */
export function parseAgentArgv(argv: readonly string[]): AgentFlags {
  const values = new Map<string, string[]>();
  for (let i = 0; i < argv.length; i += 1) {
    const { name, inline } = splitFlag(argv[i] ?? "");
    if (SWITCHES.has(name)) values.set(name, []);
    else if (WITH_VALUE.has(name)) {
      if (inline === undefined) i += 1;
      const value = inline ?? argv[i];
      if (value === undefined) throw invalid(`${name} has no value`);
      values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  return flagsOf(values);
}

function splitFlag(word: string): { readonly name: string; readonly inline?: string } {
  const at = word.startsWith("--") ? word.indexOf("=") : -1;
  const name = at < 0 ? word : word.slice(0, at);
  return { name: ALIASES[name] ?? name, ...(at < 0 ? {} : { inline: word.slice(at + 1) }) };
}

function flagsOf(values: ReadonlyMap<string, readonly string[]>): AgentFlags {
  const last = (name: string) => values.get(name)?.at(-1);
  const need = (name: string) => {
    const value = last(name);
    if (!value) throw invalid(`${name} is missing`);
    return value;
  };
  const optional = <K extends string, V>(key: K, value: V | undefined) =>
    (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
  const mode = values.has("--dangerously-skip-permissions")
    ? "bypassPermissions"
    : permissionMode(last("--permission-mode"));
  return {
    agentId: need("--agent-id"),
    agentName: need("--agent-name"),
    teamName: need("--team-name"),
    parentSessionId: last("--parent-session-id") ?? "",
    agentType: last("--agent-type") ?? "general-purpose",
    planModeRequired: values.has("--plan-mode-required"),
    ...(values.has("--own-screen") ? { ownScreen: true as const } : {}),
    ...(values.has("--awaits-program") ? { awaitsProgram: true as const } : {}),
    ...optional("agentColor", last("--agent-color")),
    ...optional("permissionMode", mode),
    ...optional("allowedTools", toolList(values.get("--allowedTools"))),
    ...optional("disallowedTools", toolList(values.get("--disallowedTools"))),
    ...optional("tools", toolList(values.get("--tools"))),
    ...optional("addDirs", values.get("--add-dir")),
    ...optional("model", last("--model")),
    ...optional("resume", last("--resume")),
  };
}

function permissionMode(value: string | undefined): PermissionMode | undefined {
  if (value === undefined) return undefined;
  const known = PERMISSION_MODES.find((mode) => mode === value);
  if (known === undefined) throw invalid(`--permission-mode ${JSON.stringify(value)} is not a known mode`);
  return known;
}

function invalid(what: string): TeamError {
  return new TeamError("INVALID_INPUT", `The teammate's command line is not valid: ${what}.`, {
    hint: "Start teammates with `teams spawn` or `teams run`; see `teams agent --help` for the flags.",
  });
}
