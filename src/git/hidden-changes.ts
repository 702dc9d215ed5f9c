import { join } from "node:path";
import type { Env } from "../os/env.ts";
import { createTemporaryDirectory } from "../os/files/atomic-write.ts";
import { copyToNew, entryOf, removeTree } from "../os/files/fs.ts";
import { keepsModes } from "../os/files/user-files.ts";
import { git } from "./git.ts";
import type { GitDirectories } from "./repository.ts";

/** The top of a checkout, and git's own directory for it. */
export type CheckoutPlace = Pick<GitDirectories, "top" | "own">;

/** Returns the variables that make git use this repository and checkout, even if its configuration names others. Pure. */
export function variablesOf({ top, own }: CheckoutPlace): Env {
  return { GIT_DIR: own, GIT_WORK_TREE: top };
}

/**
 * Returns options that make git compare the files themselves. Without them, settings may let git trust a file system monitor, its
 * cache of untracked files or only some of a file's times, or ignore file modes and case.
 */
export async function watchfulOptions(place: CheckoutPlace, env: Env): Promise<readonly string[]> {
  const { top } = place;
  const settings = await git(top, ["config", "--list", "-z"], env, variablesOf(place));
  const chosen = [
    "core.fsmonitor=",
    "core.untrackedCache=false",
    "core.trustCtime=true",
    "core.checkStat=default",
    // Git's own test for a file system that ignores case.
    ...(entryOf(join(top, ".GIT")) === undefined ? ["core.ignoreCase=false"] : []),
    ...(isOff(settings, "core.filemode") && keepsModes(top) ? ["core.fileMode=true"] : []),
  ];
  return chosen.flatMap((setting) => ["-c", setting]);
}

/** Whether the last value of a setting in `git config --list -z` is false. */
function isOff(settings: string, key: string): boolean {
  const last = settings.split("\0").findLast((entry) => entry === key || entry.startsWith(`${key}\n`));
  return last !== undefined && /^(?:false|no|off|0|)$/i.test(last.slice(key.length + 1)) && last !== key;
}

/** Files that git does not check for changes, because of their flags in the index. */
export interface FlaggedFiles {
  readonly assumed: readonly string[];
  /** Without those that a sparse checkout leaves out. */
  readonly skipped: readonly string[];
}

/** Returns the files with a flag `assume-unchanged` or `skip-worktree`; undefined if no file has one. */
export async function flaggedFiles(place: CheckoutPlace, env: Env): Promise<FlaggedFiles | undefined> {
  const { top } = place;
  const listed = await git(top, ["ls-files", "-v", "-z"], env, variablesOf(place));
  const entries = listed.split("\0").map((entry) => ({ tag: entry.slice(0, 1), file: entry.slice(2) }));
  // A name that is not UTF-8 counts as present: git then refuses it, and the worktree stays.
  const isPresent = (file: string): boolean =>
    file.includes("\uFFFD") || entryOf(join(top, file)) !== undefined;
  const assumed = entries.flatMap(({ tag, file }) => (/[a-z]/.test(tag) ? [file] : []));
  const skipped = entries.flatMap(({ tag, file }) => (/s/i.test(tag) && isPresent(file) ? [file] : []));
  return assumed.length + skipped.length === 0 ? undefined : { assumed, skipped };
}

/** Clears the flags of these files in a copy of the index. */
export async function clearFlags(
  { top }: CheckoutPlace,
  { assumed, skipped }: FlaggedFiles,
  env: Env,
  copy: Env,
): Promise<void> {
  // One call for each flag: git clears only the first.
  for (const [option, files] of [
    ["--no-assume-unchanged", assumed],
    ["--no-skip-worktree", skipped],
  ] as const) {
    const input = files.map((file) => `${file}\0`).join("");
    if (input !== "") await git(top, ["update-index", "-z", option, "--stdin"], env, copy, { input });
  }
}

/** Runs an action with variables for a copy of the index without these flags. */
export async function withoutFlags<T>(
  place: CheckoutPlace,
  flagged: FlaggedFiles,
  env: Env,
  action: (variables: Env) => Promise<T>,
): Promise<T> {
  const scratch = createTemporaryDirectory("teams-index-");
  try {
    const copy = { ...variablesOf(place), GIT_INDEX_FILE: join(scratch, "index") };
    copyToNew(join(place.own, "index"), copy.GIT_INDEX_FILE);
    await clearFlags(place, flagged, env, copy);
    return await action(copy);
  } finally {
    removeTree(scratch);
  }
}
