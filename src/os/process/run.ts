import type { ChildProcess } from "node:child_process";
import { after } from "../clock.ts";
import type { Env } from "../env.ts";

/** What a program that ran to its end left behind. */
export interface ProgramResult {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it did not run or end by itself. */
  readonly failure?: "not-found" | "timed-out" | "aborted" | "output-limit";
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Env;
  readonly cwd?: string;
  /** Milliseconds; then SIGTERM, and SIGKILL one second later. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Bytes of stdout and of stderr each, 64 MiB by default. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** Milliseconds that what a killed program wrote last may take to be read. */
const DRAIN_MS = 100;

let survivesFileLimit = false;

/**
 * Node ignores SIGXFSZ, so that a file that grows beyond the limit is an error of the write. execa listens for it while a
 * program runs, and with its listener the last one would go, and what Node had set does not come back: so one of ours stays.
 */
function surviveFileLimit(): void {
  if (survivesFileLimit) return;
  survivesFileLimit = true;
  process.on("SIGXFSZ", () => undefined);
}

/**
 * Runs a program with an argument vector, never through a shell. How it ended is an answer and not an exception.
 * execa is loaded at the first call: it costs a fifth of Node's own start.
 */
export async function run(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<ProgramResult> {
  surviveFileLimit();
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
    forceKillAfterDelay: 1000,
    maxBuffer: options.maxBytes ?? MAX_BYTES,
  });
  program.once("exit", () => {
    if (program.killed) after(DRAIN_MS, () => letGo(program));
  });
  const result = await program;
  const failure = failureOf(result);
  return {
    code: result.exitCode,
    signal: result.signal,
    stdout: String(result.stdout),
    stderr:
      failure === "not-found" && result.stderr === "" ? (result.shortMessage ?? "") : String(result.stderr),
    ...(failure === undefined ? {} : { failure }),
  };
}

/**
 * A program may have handed its output to another, as tmux does to its server: what we killed is not waited for until that
 * one closes it.
 */
function letGo({ stdout, stderr }: Pick<ChildProcess, "stdout" | "stderr">): void {
  stdout?.destroy();
  stderr?.destroy();
}

interface Ending {
  readonly timedOut: boolean;
  readonly isCanceled: boolean;
  readonly isMaxBuffer: boolean;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
}

function failureOf(ending: Ending): ProgramResult["failure"] {
  if (ending.timedOut) return "timed-out";
  if (ending.isCanceled) return "aborted";
  if (ending.isMaxBuffer) return "output-limit";
  return ending.exitCode === undefined && ending.signal === undefined ? "not-found" : undefined;
}
