import { delimiter } from "node:path";
import { type Env, platform } from "../env.ts";
import { findProgram } from "../files/access.ts";
import { entryOf } from "../files/fs.ts";
import { run } from "../process/run.ts";
import { bubblewrapArgs } from "./bubblewrap.ts";
import { seatbeltArgs } from "./seatbelt.ts";
import type { SandboxView } from "./view.ts";

/** The program that creates sandboxes on this machine. */
export interface SandboxTool {
  readonly kind: "bubblewrap" | "seatbelt";
  readonly file: string;
  /** Path of nsenter; undefined if commands cannot share a network. */
  readonly nsenter?: string;
  /** Why programs inside can create user namespaces; undefined if they cannot. */
  readonly openNamespacesReason?: string;
}

/** Why there is no sandbox on this machine. */
export interface NoSandbox {
  /** The end of a sentence: `bubblewrap is not installed`. */
  readonly reason: string;
  /** The next step for the user. */
  readonly remedy: string;
}

const PROBE_TIMEOUT_MS = 10_000;
const SEATBELT = "/usr/bin/sandbox-exec";

/** Results by platform and PATH: they change only if a program is installed or a kernel setting changes. */
const known = new Map<string, Promise<SandboxTool | NoSandbox>>();

/** Finds the program for sandboxes, and tests it by running a program in a sandbox. Once per process and PATH. */
export function findSandbox(env: Env, on: NodeJS.Platform = platform): Promise<SandboxTool | NoSandbox> {
  const key = `${on}:${env.PATH ?? ""}`;
  const found = known.get(key) ?? probe(env, on);
  known.set(key, found);
  return found;
}

async function probe(env: Env, on: NodeJS.Platform): Promise<SandboxTool | NoSandbox> {
  if (on === "linux") return probeBubblewrap(env);
  if (on === "darwin") return probeSeatbelt(env);
  return { reason: `${on} has no sandbox that teams can use`, remedy: "Use Linux or macOS." };
}

async function probeBubblewrap(env: Env): Promise<SandboxTool | NoSandbox> {
  const trusted = { PATH: systemPath(env) };
  const file = findProgram("bwrap", trusted);
  if (file === undefined) {
    return {
      reason: "bubblewrap is not installed",
      remedy: "Install it: apt install bubblewrap (the package has the same name in dnf, pacman and apk).",
    };
  }
  const probe = await probeIsolation((allowsNamespaces) => {
    const view: SandboxView = { places: [], emptyFile: "/dev/null", network: "own", allowsNamespaces };
    return failureOf(file, bubblewrapArgs(view, { cwd: "/", words: ["/bin/sh", "-c", ":"] }), env);
  });
  if ("failure" in probe) return bubblewrapProblem(probe.failure, isInContainer());
  const nsenter = findProgram("nsenter", trusted);
  return { kind: "bubblewrap", file, ...probe, ...(nsenter === undefined ? {} : { nsenter }) };
}

/** Errors of a bubblewrap that lacks `--disable-userns`, or may not write the limit of user namespaces here. */
const CANNOT_CLOSE = /unknown option|max_user_namespaces|user ns|user namespaces/i;

/**
 * Determines how well bubblewrap can isolate a program here: an older one, or one in a container with a read-only
 * /proc/sys, cannot prevent additional user namespaces. Any other failure, such as a lack of memory, is returned, and
 * never leads to a weaker sandbox.
 * @param failureWith runs a program inside. @returns its error output; undefined if it succeeds
 */
export async function probeIsolation(
  failureWith: (allowsNamespaces: boolean) => Promise<string | undefined>,
): Promise<Pick<SandboxTool, "openNamespacesReason"> | { readonly failure: string }> {
  const closed = await failureWith(false);
  if (closed === undefined) return {};
  if (!CANNOT_CLOSE.test(closed)) return { failure: closed };
  const failure = await failureWith(true);
  if (failure !== undefined) return { failure };
  const isOld = /unknown option/i.test(closed);
  return { openNamespacesReason: isOld ? "bubblewrap is older than 0.8" : firstLine(closed) };
}

/** Directories of programs that only the system's administrator changes. */
const SYSTEM_DIRECTORIES: ReadonlySet<string> = new Set([
  ...["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin"],
  ...["/run/wrappers/bin", "/run/current-system/sw/bin"],
]);

/** Returns the trusted part of PATH, which may name directories of a project: a command could place a fake `bwrap` there. */
function systemPath({ PATH = "" }: Env): string {
  return PATH.split(delimiter)
    .filter((directory) => SYSTEM_DIRECTORIES.has(directory))
    .join(delimiter);
}

function isInContainer(): boolean {
  return entryOf("/.dockerenv") !== undefined || entryOf("/run/.containerenv") !== undefined;
}

/** Explains a failed test by its error message. Pure. */
export function bubblewrapProblem(stderr: string, isContainer: boolean): NoSandbox {
  const message = firstLine(stderr);
  const isNamespace = /namespace|uid map|gid map/i.test(message);
  if (isContainer && (isNamespace || /mount|proc/i.test(message))) {
    return {
      reason: `this container does not allow the namespaces of bubblewrap (${message})`,
      remedy:
        "Start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or rely on the container instead: set teams.sandbox.mode to off.",
    };
  }
  if (isNamespace) {
    return {
      reason: `user namespaces are off for this user (${message})`,
      remedy:
        "Allow them: set the sysctls kernel.unprivileged_userns_clone=1 and user.max_user_namespaces above 0. On Ubuntu, install an AppArmor profile for bwrap that allows userns.",
    };
  }
  return {
    reason: `bubblewrap does not work (${message})`,
    remedy: "Run `bwrap --ro-bind / / true` to see the problem.",
  };
}

async function probeSeatbelt(env: Env): Promise<SandboxTool | NoSandbox> {
  const view: SandboxView = { places: [], emptyFile: "/dev/null", network: "own" };
  const failure = await failureOf(SEATBELT, seatbeltArgs(view, ["/usr/bin/true"]), env);
  if (failure === undefined) return { kind: "seatbelt", file: SEATBELT };
  return {
    reason: `sandbox-exec does not work (${firstLine(failure)})`,
    remedy: `Run ${SEATBELT} -p '(version 1)(allow default)' /usr/bin/true to see the problem.`,
  };
}

/** Returns the error output of a program that fails; undefined if it succeeds. */
async function failureOf(file: string, args: readonly string[], env: Env): Promise<string | undefined> {
  const end = await run(file, args, { env: { PATH: env.PATH }, cwd: "/", timeoutMs: PROBE_TIMEOUT_MS });
  const how = end.signal ?? end.failure ?? `exit code ${end.code}`;
  return end.code === 0 ? undefined : end.stderr || `it ended with ${how}`;
}

function firstLine(stderr: string): string {
  return stderr.trim().split("\n")[0] || "no message";
}
