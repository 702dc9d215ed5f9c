import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { outputDirectory } from "../../agent/background/output-file.ts";
import type { HookOptions } from "../../agent/hooks/hooks.ts";
import { hookCommands } from "../../agent/hooks/settings.ts";
import type { AgentSandbox } from "../../agent/sandbox/agent-sandbox.ts";
import { openSandbox } from "../../agent/sandbox/open-sandbox.ts";
import { noSandboxError } from "../../agent/sandbox/require-sandbox.ts";
import type { OperationContext } from "../../operations/context.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import type { Sandbox } from "../../os/sandbox/sandbox.ts";
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
}

function plainLine(path: string): string {
  return stripControls(path).replace(/\s+/g, " ");
}

/** The directories of an agent, as the settings are now. */
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
 * Opens the sandbox of an agent. In mode `auto` on a machine without one, notes why, and the agent's commands run as its user.
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
  const { config, tasks } = ctx.ref.paths;
  const opened = await openSandbox({
    setting,
    workingDirs: () => workingDirectories(request),
    roots: [root],
    visible: [
      ...["shell-snapshots", "skills"].map((part) => join(root, part)),
      ...[config, tasks, outputDirectory(ctx.cwd)],
    ],
    home: homeDirectory(ctx.env),
    env: ctx.env,
    passSecrets,
    onNewFiles: (paths) =>
      note(
        `new since the last command: ${paths.map(plainLine).join(", ")}; other programs run commands from it, so read it first`,
      ),
  });
  if (!("reason" in opened)) return opened;
  if (mode === "required") throw noSandboxError(name, opened);
  note(`no sandbox: ${opened.reason}; its commands run as you. ${opened.remedy}`);
  return undefined;
}

/** Returns a sandbox for the rare program of a command that ends soon: it is opened when a program needs it. */
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

/** Returns whether a server's entry in the user's or the administrator's settings excepts it from the sandbox. */
export function isServerOutside({ own, mcpServers }: LoadedSettings, server: string): boolean {
  const entry = own?.mcpServers[server];
  if (typeof entry !== "object" || entry === null || !isDeepStrictEqual(entry, mcpServers[server]))
    return false;
  return (entry as { readonly sandbox?: unknown }).sandbox === false;
}
