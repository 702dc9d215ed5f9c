import { dirname, isAbsolute, join } from "node:path";
import { messageOf } from "../../errors.ts";
import { entryOf, readText } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { StartedWith } from "../../os/process/started-with.ts";

/** Maximum number of directories from a program up to its package.json (`bin/claude.exe`, `cli.js`). */
const LEVELS = 3;

/** Milliseconds by which the start of a process can be too early: the system counts boot and start in seconds. */
const START_ERROR_MS = 2_000;

/**
 * Returns the version of a claude from the file that its process was started from: a path with `versions/<version>`, or the package
 * around it. Undefined if it is unknown, even if that file was replaced after the start.
 * @param startedAt milliseconds since the epoch
 */
export function versionOfClaude(
  { words, env, program }: StartedWith,
  startedAt: number | undefined,
): string | undefined {
  // For node, the script is the second word; a shell records the program that it starts in `_`.
  const files = [program, words[0], words[1], env("_")];
  for (const file of files) {
    if (file === undefined || !isAbsolute(file)) continue;
    const version = versionAt(file, startedAt);
    if (version !== undefined) return version;
  }
  return undefined;
}

function versionAt(file: string, startedAt: number | undefined): string | undefined {
  const path = realPathOf(file);
  const installed = /\/versions\/(\d+\.\d+\.\d+)(?:\/|$)/.exec(path)?.[1];
  if (installed !== undefined) return installed;
  let directory = dirname(path);
  for (let level = 0; level < LEVELS; level += 1, directory = dirname(directory)) {
    const version = packageVersion(join(directory, "package.json"), startedAt);
    if (version !== undefined) return version;
  }
  return undefined;
}

function packageVersion(path: string, startedAt: number | undefined): string | undefined {
  const changed = entryOf(path)?.ctimeMs;
  if (changed === undefined || startedAt === undefined || Number(changed) > startedAt + START_ERROR_MS)
    return undefined;
  const { name, version } = parsed(readText(path));
  const isClaude = typeof name === "string" && name.startsWith("@anthropic-ai/claude-code");
  return isClaude && typeof version === "string" ? version : undefined;
}

function parsed(text: string | undefined): { readonly name?: unknown; readonly version?: unknown } {
  try {
    return Object(JSON.parse(text ?? "{}"));
  } catch (error) {
    // Another program's file: it names no version.
    return { name: messageOf(error) };
  }
}
