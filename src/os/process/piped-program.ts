import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { messageOf } from "../../errors.ts";
import type { Env } from "../env.ts";
import { OutputTail } from "./output-tail.ts";
import { COMMAND_VARIABLE, endCommand } from "./process-tree.ts";

interface PipedOptions {
  readonly cwd: string;
  /** The whole environment: no variable of this process is added. */
  readonly env: Env;
  /** The program also ends if this process is killed. */
  readonly endsWithParent?: boolean;
}

/** A program that this process talks to through stdin and stdout, until either of them ends it. */
export interface PipedProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves after its end, to `exit code 1`, `SIGKILL`, or why it could not be started. Never rejects. */
  readonly ended: Promise<string>;
  /** Returns the end of its stderr. */
  errors(): string;
  /** Ends it with everything that it started. */
  end(): Promise<void>;
}

/**
 * Runs a program whose process group ends when the pipe of descriptor 3 breaks, as it does when this process dies. The program gets
 * the pid of this shell, which leads the group.
 */
const WITH_LIFELINE = `
(trap '' TERM HUP; read -r _; kill -TERM -$$; sleep 1; kill -KILL -$$) <&3 3<&- >/dev/null 2>&1 &
exec "$@" 3<&-
`;

/** Characters of stderr to keep. */
const MAX_ERRORS = 4_000;

/** Starts a program in its own session: keys and signals of this terminal do not reach it. */
export function startPiped(file: string, args: readonly string[], options: PipedOptions): PipedProgram {
  const mark = randomUUID();
  const how = {
    cwd: options.cwd,
    env: { ...options.env, [COMMAND_VARIABLE]: mark },
    detached: true,
  };
  const child = options.endsWithParent
    ? spawn("/bin/sh", ["-c", WITH_LIFELINE, "sh", file, ...args], {
        ...how,
        stdio: ["pipe", "pipe", "pipe", "pipe"],
      })
    : spawn(file, args, { ...how, stdio: ["pipe", "pipe", "pipe"] });
  const errors = new OutputTail(MAX_ERRORS);
  child.stderr.on("data", (bytes: Buffer) => errors.add(bytes));
  // A program that ends closes its stdin, which is an error event here; its end is reported below.
  child.stdin.on("error", () => undefined);
  const [, , , lifeline] = child.stdio;
  // After a normal end too: the reader of the lifeline then ends the program's background processes.
  child.once("exit", () => lifeline?.destroy());
  const ended = new Promise<string>((resolve) => {
    child.once("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once("error", (error) => resolve(messageOf(error)));
  });
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    ended,
    errors: () => errors.text.trim(),
    end: async () => {
      child.stdin.end();
      if (child.pid !== undefined) await endCommand(child, mark);
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
}
