import { TeamError } from "../errors.ts";
import { processEnv } from "../os/env.ts";
import { realPathOf } from "../os/fs.ts";
import type { Io } from "./io.ts";

/**
 * This process as a command sees it.
 * @param closed called when the reader of our output has gone (EPIPE): there is nobody left to say anything to
 */
export function processIo(closed: () => void): Io {
  const [node, script, ...argv] = process.argv;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") return closed();
      throw error;
    });
  }
  return {
    argv,
    env: processEnv(),
    get cwd() {
      return currentDirectory();
    },
    program: [node ?? process.execPath, realPathOf(script ?? "")],
    terminal: {
      stdin: process.stdin.isTTY === true,
      stdout: process.stdout.isTTY === true,
      stderr: process.stderr.isTTY === true,
    },
    columns: process.stdout.isTTY ? process.stdout.columns : undefined,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    readStdin,
    interruption,
  };
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new TeamError("INVALID_INPUT", "The current directory is not there any more; nothing was done.", {
      hint: "Change to one that exists.",
      cause,
    });
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString("utf8");
}

let interrupted: AbortController | undefined;

function interruption(): AbortSignal {
  if (interrupted !== undefined) return interrupted.signal;
  const controller = new AbortController();
  interrupted = controller;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => controller.abort(signal));
  }
  return controller.signal;
}
