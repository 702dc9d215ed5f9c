import { homedir, tmpdir, userInfo } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { messageOf, TeamError } from "../../errors.ts";
import type { Env } from "../env.ts";
import { ensureDir, entryOf } from "./fs.ts";

/** `$TEAMS_HOME`, else `$CLAUDE_CONFIG_DIR`, else `~/.claude` (protocol.md section 1). */
export function rootDirectory(env: Env): string {
  const given = env.TEAMS_HOME || env.CLAUDE_CONFIG_DIR;
  return given ? resolve(given) : join(env.HOME || homedir(), ".claude");
}

/** `$XDG_RUNTIME_DIR/teams`, else `/tmp/teams-<uid>`. */
export function runtimeDirectory(env: Env): string {
  const xdg = env.XDG_RUNTIME_DIR;
  return xdg && isAbsolute(xdg) ? join(xdg, "teams") : scratchDirectory();
}

/** `/tmp/teams-<uid>`: output of background commands, and the runtime directory where the system has none. */
export function scratchDirectory(): string {
  return join(process.platform === "linux" ? "/tmp" : tmpdir(), `teams-${userInfo().uid}`);
}

/**
 * Makes a directory that is ours alone, or refuses to use one that is a link or somebody else's.
 * @throws TeamError PERMISSION_DENIED
 */
export function ensureOwnDirectory(path: string): void {
  const flaw = (entryOf(path) === undefined ? creationProblem(path) : undefined) ?? ownershipProblem(path);
  if (flaw === undefined) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `The runtime directory ${path} ${flaw}; nothing was put into it.`,
    {
      hint:
        entryOf(path) === undefined
          ? "It holds the bells of agents: set XDG_RUNTIME_DIR to a directory of your own with some space, or unset it."
          : "Remove it or make it yours alone (chmod 700), or set XDG_RUNTIME_DIR to a directory of your own.",
    },
  );
}

function creationProblem(path: string): string | undefined {
  try {
    ensureDir(path);
    return undefined;
  } catch (error) {
    return `cannot be made (${messageOf(error)})`;
  }
}

/** The number of the user that this process is. */
export function ownUid(): number {
  return userInfo().uid;
}

function ownershipProblem(path: string): string | undefined {
  const entry = entryOf(path);
  if (!entry?.isDirectory()) return "is not a directory";
  if (entry.uid !== ownUid()) return `belongs to user ${entry.uid}`;
  return (Number(entry.mode) & 0o077) === 0 ? undefined : "is open to others";
}

/**
 * Makes an agent's runtime directory, `<runtime>/<hash of the root>/<team>/<agent>`; each of the four is ours alone.
 * @throws as {@link ensureOwnDirectory}
 */
export function ensureRuntimeDirectory(path: string): void {
  const [team, root, runtime] = [dirname(path), dirname(dirname(path)), dirname(dirname(dirname(path)))];
  for (const level of [runtime, root, team, path]) ensureOwnDirectory(level);
}

/**
 * Whether a directory of the runtime directory is there, and it and those above it are ours alone. Nothing is removed below
 * any other: it could lead to whatever somebody else wishes.
 * @param path `<runtime>/<hash of the root>/…`
 * @param depth how many directories it is below the runtime directory
 */
export function isOwnRuntime(path: string, depth: number): boolean {
  const isOwnAbove = depth === 0 || isOwnRuntime(dirname(path), depth - 1);
  return isOwnAbove && ownershipProblem(path) === undefined;
}
