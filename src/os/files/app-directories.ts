import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isSystemError, messageOf, TeamError } from "../../errors.ts";
import type { Env } from "../env.ts";
import { ensureDir, entryOf, ownerOf } from "./fs.ts";

/** Returns `$TEAMS_HOME`, else `$CLAUDE_CONFIG_DIR`, else `~/.claude` (protocol.md section 1). */
export function rootDirectory(env: Env): string {
  const given = env.TEAMS_HOME || env.CLAUDE_CONFIG_DIR;
  return given ? resolve(given) : join(homeDirectory(env), ".claude");
}

/**
 * Returns the environment with absolute `$TEAMS_HOME`, `$CLAUDE_CONFIG_DIR` and `$HOME`: an agent in another directory must find the
 * same root.
 * @param cwd returns the directory that relative values refer to; called only if a value is relative
 */
export function withAbsoluteRoot(env: Env, cwd: () => string): Env {
  const isRelative = (name: string): boolean => Boolean(env[name]) && !isAbsolute(env[name] ?? "");
  const relative = ["TEAMS_HOME", "CLAUDE_CONFIG_DIR", "HOME"].filter(isRelative);
  if (relative.length === 0) return env;
  const base = cwd();
  return { ...env, ...Object.fromEntries(relative.map((name) => [name, resolve(base, env[name] ?? "")])) };
}

/** Returns `$HOME`, else the home directory of the user's account; `/` for a uid without an account, as container runtimes set it. */
export function homeDirectory(env: Env): string {
  if (env.HOME) return env.HOME;
  try {
    return homedir();
  } catch (error) {
    if (isSystemError(error)) return "/";
    throw error;
  }
}

/** Returns `$XDG_RUNTIME_DIR/teams`, else `/tmp/teams-<uid>`. A `$XDG_RUNTIME_DIR` of another user is ignored. */
export function runtimeDirectory(env: Env): string {
  const xdg = env.XDG_RUNTIME_DIR;
  return xdg && isAbsolute(xdg) && isOwnOrMissing(xdg) ? join(xdg, "teams") : scratchDirectory();
}

/** False for a directory of another user, for example after `su` or in a container, and for one that cannot be reached. */
function isOwnOrMissing(path: string): boolean {
  try {
    return (ownerOf(path) ?? ownUid()) === ownUid();
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** Returns `/tmp/teams-<uid>`, for output of background commands, and as the runtime directory if the system has none. */
export function scratchDirectory(): string {
  return join(process.platform === "linux" ? "/tmp" : tmpdir(), `teams-${ownUid()}`);
}

/**
 * Creates a private directory of this user. Refuses an existing directory if it is a link, belongs to another user or is
 * open to others.
 * @throws TeamError PERMISSION_DENIED
 */
export function ensureOwnDirectory(path: string): void {
  const problem = (entryOf(path) === undefined ? creationProblem(path) : undefined) ?? ownershipProblem(path);
  if (problem === undefined) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `The runtime directory ${path} ${problem}; nothing was written to it.`,
    {
      hint:
        entryOf(path) === undefined
          ? "Set XDG_RUNTIME_DIR to a directory of your own with some free space, or unset it."
          : "Remove it, make it private (chmod 700), or set XDG_RUNTIME_DIR to a directory of your own.",
    },
  );
}

function creationProblem(path: string): string | undefined {
  try {
    ensureDir(path);
    return undefined;
  } catch (error) {
    return `cannot be created (${messageOf(error)})`;
  }
}

/** Returns the uid to which this process's files belong. Not from `os.userInfo()`, which needs an account of that uid. */
export function ownUid(): number {
  const uid = process.geteuid?.();
  if (uid === undefined) throw new Error("this system has no user ids");
  return uid;
}

function ownershipProblem(path: string): string | undefined {
  const entry = entryOf(path);
  if (!entry?.isDirectory()) return "is not a directory";
  if (entry.uid !== ownUid()) return `belongs to user ${entry.uid}`;
  return (Number(entry.mode) & 0o077) === 0 ? undefined : "is open to others";
}

/**
 * Creates an agent's runtime directory, `<runtime>/<hash of the root>/<team>/<agent>`; all four levels are private.
 * @throws as {@link ensureOwnDirectory}
 */
export function ensureRuntimeDirectory(path: string): void {
  const [team, root, runtime] = [dirname(path), dirname(dirname(path)), dirname(dirname(dirname(path)))];
  for (const level of [runtime, root, team, path]) ensureOwnDirectory(level);
}

/**
 * True if a directory below the runtime directory exists, and it and its parents up to the runtime directory are private.
 * Nothing may be removed below any other directory: it could be a link that another user placed there.
 * @param path `<runtime>/<hash of the root>/…`
 * @param depth number of levels below the runtime directory
 */
export function isOwnRuntime(path: string, depth: number): boolean {
  const isOwnAbove = depth === 0 || isOwnRuntime(dirname(path), depth - 1);
  return isOwnAbove && ownershipProblem(path) === undefined;
}
