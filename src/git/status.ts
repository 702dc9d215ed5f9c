import { join } from "node:path";
import type { Env } from "../os/env.ts";
import { entryOf } from "../os/files/fs.ts";
import { git } from "./git.ts";
import {
  type CheckoutPlace,
  flaggedFiles,
  variablesOf,
  watchfulOptions,
  withoutFlags,
} from "./hidden-changes.ts";
import { gitDirectoriesOf } from "./repository.ts";

/** The uncommitted changes of a worktree. */
export interface GitChanges {
  /** Short name; undefined while the HEAD is detached. */
  readonly branch: string | undefined;
  /** Tracked files that differ from the commit or the index, including conflicts. */
  readonly changed: number;
  readonly untracked: number;
  /** True if flags in the index may hide some of the changed files from `git status`. */
  readonly hasFlags?: boolean;
}

/** Parses `git status --porcelain=v2 --branch -z`. Pure; ignores unknown lines, which a newer git may print. */
export function parseStatus(text: string): GitChanges {
  let branch: string | undefined;
  let changed = 0;
  let untracked = 0;
  const fields = text.split("\0");
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? "";
    const head = /^# branch\.head (.*)$/s.exec(field)?.[1];
    if (head !== undefined && head !== "(detached)") branch = head;
    if (/^[12u] /.test(field)) changed += 1;
    // The old name of a renamed file is the next field.
    if (field.startsWith("2 ")) at += 1;
    if (field.startsWith("? ")) untracked += 1;
  }
  return { branch, changed, untracked };
}

/** In a submodule, git would run programs that its configuration names, so only its commit counts. */
const STATUS = [
  "status",
  "--porcelain=v2",
  "--branch",
  "-z",
  "--untracked-files=normal",
  "--ignore-submodules=dirty",
];

/**
 * Counts changed and untracked files of a worktree; ignored files do not count. Changes count even if a flag in the index, a
 * sparse checkout or a setting hides them from `git status`. @throws GitError
 */
export async function changesIn(directory: string, env: Env): Promise<GitChanges> {
  const found = gitDirectoriesOf(directory);
  // Git reports why this is not a repository.
  return found === undefined ? parseStatus(await git(directory, STATUS, env)) : changesOf(found, env);
}

/** Does the same for a repository and this checkout, even if its configuration names another one. @throws GitError */
export async function changesOf(place: CheckoutPlace, env: Env): Promise<GitChanges> {
  const options = await watchfulOptions(place, env);
  const flagged = await flaggedFiles(place, env);
  const read = async (variables: Env): Promise<GitChanges> =>
    parseStatus(await git(place.top, [...options, ...STATUS], env, variables));
  if (flagged === undefined) return read(variablesOf(place));
  const changes = await withoutFlags(place, flagged, env, read);
  return changes.changed === 0 ? changes : { ...changes, hasFlags: true };
}

/** Entries of git's directory while an operation is unfinished, each with the operation. */
const OPERATIONS = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["MERGE_AUTOSTASH", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["sequencer", "cherry-pick"],
  ["BISECT_LOG", "bisect"],
] as const;

/** An unfinished operation: it may have stashed changes or commits. */
export type GitOperation = (typeof OPERATIONS)[number][1];

/** Returns the operation that is in progress. Reads git's files and starts no process. */
export function operationIn({ own }: Pick<CheckoutPlace, "own">): GitOperation | undefined {
  return OPERATIONS.find(([name]) => entryOf(join(own, name)) !== undefined)?.[1];
}

/**
 * Counts the commits that only HEAD or the given commit has (`ahead`), and that only the other commit has (`behind`).
 * @param since the name of a commit or branch
 * @throws GitError if there is no such commit or branch
 */
export async function aheadBehind(
  directory: string,
  since: string,
  env: Env,
  commit = "HEAD",
): Promise<{ readonly ahead: number; readonly behind: number }> {
  const words = ["rev-list", "--left-right", "--count", "--end-of-options", `${since}...${commit}`, "--"];
  const [behind = "0", ahead = "0"] = (await git(directory, words, env)).trim().split(/\s+/);
  return { ahead: Number(ahead), behind: Number(behind) };
}

/**
 * Counts the commits of HEAD and of the given branches that are on no other branch, tag or remote.
 * @param own the branches; missing ones are ignored
 * @throws GitError
 */
export async function commitsOnlyOn(directory: string, own: readonly string[], env: Env): Promise<number> {
  const refs = own.map((branch) => `refs/heads/${branch}`);
  const listed =
    refs.length === 0 ? "" : await git(directory, ["for-each-ref", "--format=%(refname)", ...refs], env);
  const known = listed.split("\n");
  const existing = refs.filter((ref) => known.includes(ref));
  const others = own.map((branch) => `--exclude=${branch}`);
  const words = [
    "rev-list",
    "--count",
    "HEAD",
    ...existing,
    "--not",
    ...others,
    "--branches",
    "--tags",
    "--remotes",
  ];
  return Number((await git(directory, words, env)).trim());
}
