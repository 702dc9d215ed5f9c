import { type ChildProcess, execFile, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Env } from "../../../src/os/env.ts";
import { isPolling } from "../timing/eventually.ts";

const DIST = fileURLToPath(new URL("../../../dist", import.meta.url));
/** The built command line, as `bin.teams` names it. */
export const TEAMS = `${DIST}/teams.cjs`;
export const TEAMS_AGENT = `${DIST}/teams-agent.cjs`;

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  json<T = Record<string, unknown>>(): T;
  error(): { readonly code: string; readonly message: string; readonly hint: string | null };
}

export interface BuiltOptions {
  readonly env?: Env;
  readonly cwd?: string;
  readonly stdin?: string;
  /** Arguments for node, before the program. */
  readonly nodeArgs?: readonly string[];
  readonly program?: string;
  /** Another user to run as; only root may set it. */
  readonly uid?: number;
}

/** Commands that only read. */
const READS: ReadonlySet<string | undefined> = new Set([
  "approvals",
  "inbox",
  "logs",
  "ls",
  "peek",
  "status",
]);

/** Commands that wait for agents. Their default limit suits a person, but a stall of the machine may be longer. */
const WAITS: ReadonlySet<string | undefined> = new Set(["down", "shutdown"]);

function withLongTimeout(words: readonly string[]): readonly string[] {
  const [command = "", ...rest] = words;
  return WAITS.has(command) && !rest.includes("--timeout") ? [command, "--timeout", "180", ...rest] : words;
}

/**
 * Runs the built program to its end, as another program would. Within `eventually`, a command that only reads runs in this process
 * instead: repeated starts of the program would slow down the awaited work.
 */
export function teamsIn(env: Env, cwd: string) {
  return async (words: readonly string[], options: BuiltOptions = {}): Promise<Finished> => {
    if (!isPolling() || !READS.has(words[0]) || Object.keys(options).length > 0)
      return await runBuilt(env, cwd, words, options);
    return await teamsHere(env, cwd)(...words);
  };
}

/**
 * Runs the program in this process, which saves a start of the built program: for a test that prepares its team, or reads what other
 * processes have done.
 */
export function teamsHere(env: Env, cwd: string) {
  return async (...words: readonly string[]): Promise<Finished> => {
    const { inThisProcess } = await import("./in-process-cli.ts");
    return await inThisProcess(env, cwd)(words);
  };
}

function runBuilt(env: Env, cwd: string, words: readonly string[], options: BuiltOptions): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const argv = [...(options.nodeArgs ?? []), options.program ?? TEAMS, ...withLongTimeout(words)];
    const { uid } = options;
    const user = uid === undefined ? {} : { uid, gid: uid };
    const settings = {
      ...{ env: { ...env, ...options.env }, cwd: options.cwd ?? cwd, timeout: 180_000 },
      ...user,
    };
    const child = execFile(process.execPath, argv, settings, (error, out, err) => {
      if (error !== null && typeof error.code !== "number") return reject(error);
      resolve({
        code: typeof error?.code === "number" ? error.code : 0,
        out,
        err,
        json: <T>() => {
          if (out === "")
            throw new Error(`${words.join(" ")} printed nothing on stdout, and on stderr: ${err}`);
          return JSON.parse(out) as T;
        },
        error: () => (JSON.parse(err) as { error: ReturnType<Finished["error"]> }).error,
      });
    });
    child.stdin?.end(options.stdin ?? "");
  });
}

/** Runs the built program, and asserts success without a message on stderr. */
export function doneIn(env: Env, cwd: string) {
  const teams = teamsIn(env, cwd);
  return async (...words: readonly string[]): Promise<Finished> => {
    const ended = await teams(words);
    expect([words, ended.code, ended.err]).toEqual([words, 0, ""]);
    return ended;
  };
}

/** Starts the built program without waiting; `ended` resolves with its exit code. */
export function startTeams(
  words: readonly string[],
  env: Env,
  cwd: string,
): { readonly child: ChildProcess; readonly ended: Promise<number | null> } {
  const child = spawn(process.execPath, [TEAMS, ...words], {
    env: { ...env },
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { child, ended: new Promise((resolve) => child.once("exit", (code) => resolve(code))) };
}
