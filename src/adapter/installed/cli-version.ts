import { StringDecoder } from "node:string_decoder";
import type { Env } from "../../os/env.ts";
import { type CommandEnd, runCommandGroup } from "../../os/process/command-group.ts";
import { textStart } from "../../text/characters/cut-text.ts";

/** Time limit in milliseconds for a program to print its version: some load everything first. */
const TIMEOUT_MS = 10_000;
/** Maximum characters of its output: a longer one is not a version. */
const MAX_OUTPUT = 4_096;

/** The version that a program prints, or why it is not known. */
export type ProgramVersion = { readonly version: string } | { readonly problem: string };

/**
 * Asks a program for its version, without a shell, a terminal or input. A time limit ends the program with everything that it started.
 * It runs in the root directory, where it finds no project.
 * @param file absolute path of the program
 * @param signal ends the program early
 */
export async function versionOf(
  file: string,
  args: readonly string[],
  env: Env,
  { signal, timeoutMs = TIMEOUT_MS }: { readonly signal: AbortSignal; readonly timeoutMs?: number },
): Promise<ProgramVersion> {
  const decoder = new StringDecoder("utf8");
  let output = "";
  const full = new AbortController();
  const end = await runCommandGroup(file, args, {
    cwd: "/",
    env,
    timeoutMs,
    signal: AbortSignal.any([signal, full.signal]),
    onOutput: (_stream, bytes) => {
      output += decoder.write(bytes);
      if (output.length >= MAX_OUTPUT) full.abort();
    },
  });
  const version = VERSION.exec(textStart(output, MAX_OUTPUT))?.[0];
  if (version !== undefined && end.code === 0) return { version };
  return { problem: full.signal.aborted ? "its output is too long" : problemOf(end, timeoutMs) };
}

const VERSION = /(?<![\d.])\d{1,9}(?:\.\d{1,9}){1,3}(?:-[\w.]{1,40})?/;

function problemOf({ failure, code, signal, message }: CommandEnd, timeoutMs: number): string {
  if (failure === "timed-out") return `it printed no version within ${timeoutMs / 1000} s`;
  if (failure === "aborted") return "it was interrupted";
  if (failure === "not-started") return `it cannot be run: ${message ?? ""}`;
  if (code === 0) return "it printed no version";
  return signal === undefined ? `it ended with exit status ${code}` : `it ended with ${signal}`;
}

/** Returns whether a version satisfies a range such as `>=20` or `>=22.4`; undefined for a range of another form. */
export function isInRange(version: string, range: string): boolean | undefined {
  const least = /^>=\s*(\d+(?:\.\d+){0,2})$/.exec(range)?.[1]?.split(".").map(Number);
  if (least === undefined) return undefined;
  const own = version.split(/[.-]/).map(Number);
  const differing = least.findIndex((number, i) => number !== (own[i] ?? 0));
  return differing < 0 || (own[differing] ?? 0) > (least[differing] ?? 0);
}
