import { dirname, isAbsolute, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { loginPlace } from "../../adapter/installed/login-place.ts";
import { outputDirectory } from "../../agent/background/output-file.ts";
import type { HookOptions } from "../../agent/hooks/hooks.ts";
import { hookCommands } from "../../agent/hooks/settings.ts";
import { fileDenial } from "../../agent/permissions/denied-files.ts";
import { isInside } from "../../agent/permissions/protected-paths.ts";
import type { AgentSandbox } from "../../agent/sandbox/agent-sandbox.ts";
import { openSandbox } from "../../agent/sandbox/open-sandbox.ts";
import { noSandboxError } from "../../agent/sandbox/require-sandbox.ts";
import type { SandboxSetting } from "../../agent/sandbox/settings.ts";
import type { OperationContext } from "../../operations/context.ts";
import type { Env } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { Sandbox } from "../../os/sandbox/sandbox.ts";
import { sessionEnvPath } from "../../protocol/paths.ts";
import { modeOfMember, type SandboxMode } from "../../schema/permission-modes.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import { additionalDirectories, type LoadedSettings } from "../../settings/settings.ts";
import { stripControls } from "../../text/terminal-text.ts";

interface SandboxRequest {
  readonly ctx: Pick<OperationContext, "home" | "ref" | "cwd" | "env">;
  /** Name of the agent, for an error. */
  readonly name: string;
  readonly settings: LiveSettings;
  /** Its own mode; undefined to use that of the settings. */
  readonly mode: SandboxMode | undefined;
  readonly addDirs: readonly string[] | undefined;
  /** The agent's session, whose variables its commands may read. */
  readonly sessionId?: string;
  /** Its own deny rules, in addition to those of the settings. */
  readonly denials?: readonly string[];
  /**
   * The needs of a third-party CLI that runs inside the sandbox as a whole: its login, which it may renew; its servers; and, for its
   * team tools, the directory of their socket and our own program.
   */
  readonly cli?:
    | {
        readonly login: readonly string[];
        readonly hosts: readonly string[];
        readonly socket: string;
        readonly program: readonly string[];
      }
    | undefined;
}

function plainLine(path: string): string {
  return stripControls(path).replace(/\s+/g, " ");
}

/** Returns the working directories of an agent, with those that the current settings add. */
export function workingDirectories({
  ctx,
  settings,
  addDirs = [],
}: Pick<SandboxRequest, "ctx" | "settings"> & {
  readonly addDirs?: readonly string[] | undefined;
}): string[] {
  return [ctx.cwd, ...addDirs, ...additionalDirectories(settings(), ctx)];
}

/**
 * Opens the sandbox of an agent. In mode `auto` on a machine without a sandbox, it notes why, and the agent's commands run
 * as the user.
 * @throws TeamError SPAWN_FAILED in mode `required` on such a machine
 */
export async function openAgentSandbox(
  request: SandboxRequest,
  note: (line: string) => void,
): Promise<AgentSandbox | undefined> {
  const { ctx, name, settings, mode: own } = request;
  const { sandbox: setting, passSecrets } = settings().teams;
  const mode = modeOfMember(setting.mode, own);
  if (mode === "off") return undefined;
  const { root } = ctx.home;
  const home = homeDirectory(ctx.env);
  const { config, tasks } = ctx.ref.paths;
  const opened = await openSandbox({
    setting: settingFor(setting, request.cli, ctx.env),
    workingDirs: () => workingDirectories(request),
    denial: (workingDirs) =>
      fileDenial([...settings().permissions.deny, ...(request.denials ?? [])], { workingDirs, home }),
    roots: [root],
    visible: [
      ...["shell-snapshots", "skills"].map((part) => join(root, part)),
      ...[config, tasks, outputDirectory(ctx.cwd)],
      ...(request.sessionId === undefined ? [] : [sessionEnvPath(root, request.sessionId)]),
      ...(request.cli === undefined
        ? []
        : [request.cli.socket, ...ownDirectories(request.cli.program, request)]),
    ],
    home,
    env: ctx.env,
    passSecrets,
    onNewFiles: (paths) =>
      note(
        `new since the last command: ${paths.map(plainLine).join(", ")}; other programs may run commands from ${paths.length === 1 ? "it, so read it first" : "them, so read them first"}`,
      ),
    onUnnamed: (line) => note(plainLine(line)),
  });
  if (!("reason" in opened)) return opened;
  if (mode === "required") throw noSandboxError(name, opened);
  note(`no sandbox: ${opened.reason}; the commands of ${name} run as you. ${opened.remedy}`);
  return undefined;
}

/** Returns the directories of teams' own program, which the sandbox may replace, such as /tmp. A working directory stays writable. */
function ownDirectories(program: readonly string[], request: SandboxRequest): string[] {
  const working = workingDirectories(request).map(realPathOf);
  return program
    .filter(isAbsolute)
    .map((file) => dirname(realPathOf(file)))
    .filter((path) => !working.some((directory) => isInside(path, directory)));
}

/** Adds the login and the servers of a CLI: without them, its model could not work. */
function settingFor(setting: SandboxSetting, cli: SandboxRequest["cli"], env: Env): SandboxSetting {
  if (cli === undefined) return setting;
  const { network, write } = setting;
  const hosts = [...(typeof network === "string" ? [] : network), ...cli.hosts];
  const login = cli.login.flatMap((path) => loginPlace(path, env) ?? []);
  return { ...setting, write: [...write, ...login], network: network === "allow" ? network : hosts };
}

/** Returns a sandbox for short commands, which rarely start a program: it opens for the first program. */
export function lazySandbox(request: SandboxRequest, note: (line: string) => void): Sandbox | undefined {
  if (modeOfMember(request.settings().teams.sandbox.mode, request.mode) === "off") return undefined;
  let opened: Promise<Sandbox | undefined> | undefined;
  return {
    wrap: async (program, cwd) => {
      opened ??= openAgentSandbox(request, note);
      const sandbox = await opened;
      return sandbox === undefined ? program : sandbox.wrap(program, cwd);
    },
  };
}

/** Returns whether a hook's command is in the user's or the administrator's settings. */
export function isOwnHook(
  { own }: LoadedSettings,
  ...[event, command]: Parameters<NonNullable<HookOptions["isOwn"]>>
) {
  if (own === undefined) return false;
  return hookCommands(own.hooks, event, []).some((one) => one.command === command);
}

/** Returns whether a server's entry in the user's or the administrator's settings exempts it from the sandbox. */
export function isServerOutside({ own, mcpServers }: LoadedSettings, server: string): boolean {
  const entry = own?.mcpServers[server];
  if (typeof entry !== "object" || entry === null || !isDeepStrictEqual(entry, mcpServers[server]))
    return false;
  return (entry as { readonly sandbox?: unknown }).sandbox === false;
}
