import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { TeamError } from "../../errors.ts";
import type { Env } from "../env.ts";

interface BoundOptions {
  readonly cwd: string;
  /** The whole environment: no variable of this process is added. */
  readonly env: Env;
  /** Text for stdin; default: empty. */
  readonly input?: string | undefined;
  /** Sends SIGINT to the program when it aborts; the program then decides how it ends. */
  readonly signal: AbortSignal;
}

/** The end of a program, and its output. */
export interface BoundResult {
  /** null if a signal ended it. */
  readonly code: number | null;
  readonly endedBy: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program, and interrupts its process group when the pipe of descriptor 3 breaks, as it does when this process dies. The
 * program gets the pid of this shell.
 */
const INTERRUPTED_WITH_PARENT = `
(trap '' INT TERM HUP; read -r _; kill -INT -$$) <&3 3<&- >/dev/null 2>&1 &
exec "$@" 3<&-
`;

/**
 * Runs a program until it ends. Ctrl-C of this terminal does not reach it; the death of this process interrupts it.
 * @throws TeamError SPAWN_FAILED if the system cannot start it
 */
export function runBound(file: string, args: readonly string[], options: BoundOptions): Promise<BoundResult> {
  const { cwd, env, input, signal } = options;
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", INTERRUPTED_WITH_PARENT, "sh", file, ...args], {
      ...{ cwd, env: { ...env }, detached: true },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe", "pipe"],
    });
    // A program that exits early, as for a wrong argument, does not read its input: its exit code and stderr say why.
    child.stdin?.on("error", () => undefined).end(input);
    const interrupt = (): void => void child.kill("SIGINT");
    signal.addEventListener("abort", interrupt, { once: true });
    const stdout = textOf(child.stdout);
    const stderr = textOf(child.stderr);
    const [, , , lifeline] = child.stdio;
    // Ends the subshell that waits for the death of this process.
    child.once("exit", () => lifeline?.destroy());
    lifeline?.on("error", () => undefined);
    child.once("error", (cause) => {
      signal.removeEventListener("abort", interrupt);
      reject(new TeamError("SPAWN_FAILED", `${file} could not be started (${cause.message}).`, { cause }));
    });
    child.once("close", (code, endedBy) => {
      signal.removeEventListener("abort", interrupt);
      resolve({ code, endedBy, stdout: stdout(), stderr: stderr() });
    });
    if (signal.aborted) interrupt();
  });
}

/** Collects the text of a stream. @returns the text so far */
function textOf(stream: Readable | null): () => string {
  let text = "";
  stream?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  return () => text;
}
