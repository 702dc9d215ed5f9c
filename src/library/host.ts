import { dirname, join, resolve } from "node:path";
import { TeamError } from "../errors.ts";
import { type Env, processEnv } from "../os/env.ts";
import { withAbsoluteRoot } from "../os/files/app-directories.ts";
import { entryOf, isDirectory } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import type { Caller } from "../runtime/caller.ts";
import { outsideEndedTmux } from "../runtime/tmux-environment.ts";
import type { CallerOptions } from "./options.ts";

/** The program that uses the library, as the command line sees its own process. */
export interface Host {
  readonly env: Env;
  readonly cwd: string;
  /** The program and leading arguments that run the command line: node and the built file. */
  readonly program: readonly [string, string];
  note(text: string): void;
}

/**
 * Resolves the options that default to this process: its directory, its environment, and the path of the command line.
 * @throws TeamError INVALID_INPUT if the given directory does not exist
 */
export async function hostOf(options: CallerOptions): Promise<Host> {
  const cwd = resolve(options.cwd ?? process.cwd());
  if (options.cwd !== undefined && !isDirectory(cwd))
    throw new TeamError("INVALID_INPUT", `${cwd} is not a directory; nothing was done.`, {
      hint: "Create the directory first, or pass another cwd.",
    });
  const env = withAbsoluteRoot(options.env ?? processEnv(), () => cwd);
  const file = options.program === undefined ? ownProgram() : resolve(options.program);
  return {
    // As on the command line, `$TMUX` is ignored if its server has ended.
    env: (await outsideEndedTmux(env))?.env ?? env,
    cwd,
    program: [process.execPath, realPathOf(file)],
    note: (text) => options.onNote?.(text),
  };
}

/** Returns the path of the built command line: next to the built library, or above the directory of its chunks. */
function ownProgram(): string {
  const own = import.meta.dirname;
  const sibling = join(own, "teams.cjs");
  return entryOf(sibling) === undefined ? join(dirname(own), "teams.cjs") : sibling;
}

/** @throws TeamError SPAWN_FAILED if the built command line does not exist: each agent runs it */
export function requireProgram({ program }: Host): void {
  const [, file] = program;
  if (entryOf(file) !== undefined) return;
  throw new TeamError("SPAWN_FAILED", `${file} does not exist, so no agent can start. Nothing was started.`, {
    hint: "If your program is bundled, pass the path of dist/teams.cjs of the package tmux-teams as the option program.",
  });
}

/** Returns the absolute directory of recordings; `true` means the team's own directory. */
export function recordingDirectory(
  { cwd }: Host,
  recording: string | true | undefined,
): string | true | undefined {
  return typeof recording === "string" ? resolve(cwd, recording) : recording;
}

/** Returns the host as the caller of one call, which the signal can interrupt. */
export function callerOf({ env, cwd, program, note }: Host, signal: AbortSignal): Caller {
  return { io: { env, cwd, program, interruption: () => signal }, out: { note } };
}
