import { delimiter } from "node:path";
import { type Env, platform } from "../env.ts";
import { findProgram } from "../files/access.ts";
import { entryOf } from "../files/fs.ts";
import { run } from "../process/run.ts";
import { bubblewrapArgs } from "./bubblewrap.ts";
import { seatbeltArgs } from "./seatbelt.ts";
import type { SandboxView } from "./view.ts";

/** The program that makes sandboxes on this machine. */
export interface SandboxTool {
  readonly kind: "bubblewrap" | "seatbelt";
  readonly file: string;
  /** Path of nsenter; undefined if commands cannot share a network. */
  readonly nsenter?: string;
  /** Why programs inside can make user namespaces of their own; undefined if they cannot. */
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

/** Keyed by PATH: the answer changes only with an installation or a setting of the kernel. */
const known = new Map<string, Promise<SandboxTool | NoSandbox>>();

/** Finds the program for sandboxes, and runs a program in one as a test, once per process. */
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
      remedy: "Install it: apt install bubblewrap (dnf, pacman and apk call it bubblewrap, too).",
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

/** Messages of a bubblewrap that lacks the option for it, or may not write the limit of user namespaces here. */
const CANNOT_CLOSE = /unknown option|max_user_namespaces|user ns|user namespaces/i;

/**
 * Finds out how far bubblewrap can isolate a program here: an older one, or one in a container with a read-only
 * /proc/sys, cannot close the way to further user namespaces. Another failure, such as a lack of memory, does not weaken
 * the sandbox.
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

/** A PATH may name directories of a project (`node_modules/.bin`), in which a command could place a false `bwrap`. */
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
  const said = firstLine(stderr);
  const isNamespace = /namespace|uid map|gid map/i.test(said);
  if (isContainer && (isNamespace || /mount|proc/i.test(said))) {
    return {
      reason: `this container does not allow the namespaces of bubblewrap (${said})`,
      remedy:
        "Start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or rely on the container instead: set teams.sandbox.mode to off.",
    };
  }
  if (isNamespace) {
    return {
      reason: `user namespaces are off for this user (${said})`,
      remedy:
        "Allow them: sysctl kernel.unprivileged_userns_clone=1 and user.max_user_namespaces above 0; on Ubuntu, an AppArmor profile for bwrap with userns.",
    };
  }
  return {
    reason: `bubblewrap does not work (${said})`,
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
  return end.code === 0 ? undefined : end.stderr || `it ended with ${end.signal ?? end.code ?? end.failure}`;
}

function firstLine(stderr: string): string {
  return stderr.trim().split("\n")[0] || "no message";
}
