import type { ChildProcess } from "node:child_process";
import { after } from "../clock.ts";
import type { Env } from "../env.ts";

/** The result of a program that has ended. */
export interface ProgramResult {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it could not be started, or was ended. For `not-found` and `not-started`, `stderr` is the reason of the system. */
  readonly failure?: "not-found" | "not-started" | "timed-out" | "aborted" | "output-limit";
}

interface RunOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Env;
  readonly cwd?: string;
  /** Milliseconds until SIGTERM; SIGKILL follows one second later. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** How stdout and stderr are decoded; `latin1` gives one character for each byte. */
  readonly encoding?: "utf8" | "latin1";
  /** Maximum bytes of stdout and of stderr each; default 64 MiB. */
  readonly maxBytes?: number;
  /** Starts it in its own session: neither a Ctrl-C in the terminal nor the end of this process ends it. */
  readonly detached?: boolean;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** Milliseconds to read the last output of a killed program. */
const DRAIN_MS = 100;

/** False in a program that uses the library: it handles its signals itself. */
let handlesSignals = true;

/** Makes `run` add no signal listeners to this process: a program that it runs then outlives this process if a signal ends it. */
export function leaveSignals(): void {
  handlesSignals = false;
}

let survivesFileLimit = false;

/**
 * Node ignores SIGXFSZ, so a file beyond the size limit is a write error. execa listens for the signal while a program
 * runs; when the last listener is removed, Node's setting is lost. A permanent listener prevents that.
 */
function surviveFileLimit(): void {
  if (survivesFileLimit) return;
  survivesFileLimit = true;
  process.on("SIGXFSZ", () => undefined);
}

/**
 * Runs a program with an argument vector, never through a shell. Returns how it ended: a failure does not reject.
 * execa is loaded at the first call, since loading it takes a fifth of Node's own start.
 */
export async function run(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<ProgramResult> {
  if (handlesSignals) surviveFileLimit();
  const { execa } = await import("execa");
  const program = execa(file, args, {
    reject: false,
    stripFinalNewline: false,
    extendEnv: options.env === undefined,
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.input === undefined ? { stdin: "ignore" } : { input: options.input }),
    ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
    ...(options.signal === undefined ? {} : { cancelSignal: options.signal }),
    encoding: options.encoding ?? "utf8",
    detached: options.detached ?? false,
    forceKillAfterDelay: 1000,
    cleanup: handlesSignals,
    maxBuffer: options.maxBytes ?? MAX_BYTES,
  });
  program.once("exit", () => {
    if (program.killed) after(DRAIN_MS, () => destroyOutput(program));
  });
  const result = await program;
  const failure = failureOf(result);
  const hasStarted = failure !== "not-found" && failure !== "not-started";
  return {
    code: result.exitCode,
    signal: result.signal,
    stdout: hasStarted ? String(result.stdout) : "",
    stderr: hasStarted ? String(result.stderr) : (result.originalMessage ?? ""),
    ...(failure === undefined ? {} : { failure }),
  };
}

/**
 * Stops reading a killed program's output: it may have passed the pipes to another process, as tmux does to its server,
 * which keeps them open.
 */
function destroyOutput({ stdout, stderr }: Pick<ChildProcess, "stdout" | "stderr">): void {
  stdout?.destroy();
  stderr?.destroy();
}

interface Ending {
  readonly timedOut: boolean;
  readonly isCanceled: boolean;
  readonly isMaxBuffer: boolean;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  /** The code of a system error. */
  readonly code?: string | undefined;
}

/** Errors of a program that is missing, or that this user may not run. Others say nothing about it: no process is left, for example. */
const NOT_FOUND: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "EACCES"]);

function failureOf(ending: Ending): ProgramResult["failure"] {
  if (ending.timedOut) return "timed-out";
  if (ending.isCanceled) return "aborted";
  if (ending.isMaxBuffer) return "output-limit";
  if (ending.exitCode !== undefined || ending.signal !== undefined) return undefined;
  return NOT_FOUND.has(ending.code) ? "not-found" : "not-started";
}
