import { join } from "node:path";
import type { Env } from "../os/env.ts";
import { entryOf } from "../os/files/fs.ts";
import { git } from "./git.ts";

/** The uncommitted changes of a worktree. */
export interface GitChanges {
  /** Short name; undefined while the HEAD is detached. */
  readonly branch: string | undefined;
  /** Tracked files that differ from the commit or the index, conflicts too. */
  readonly changed: number;
  readonly untracked: number;
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

/**
 * Counts changed and untracked files of a worktree; ignored files do not count. In submodules git would run programs of their
 * configuration, so only their commit counts. @throws GitError
 */
export async function changesIn(directory: string, env: Env): Promise<GitChanges> {
  const shown = ["--untracked-files=normal", "--ignore-submodules=dirty"];
  const words = ["status", "--porcelain=v2", "--branch", "-z", ...shown];
  return parseStatus(await git(directory, words, env));
}

/** Returns the first submodule that is checked out: git would run programs of its configuration to find its changes. */
export async function submoduleIn(path: string, env: Env): Promise<string | undefined> {
  const listed = await git(path, ["ls-files", "--stage", "-z"], env);
  return listed
    .split("\0")
    .filter((entry) => entry.startsWith("160000 "))
    .map((entry) => entry.slice(entry.indexOf("\t") + 1))
    .find((name) => entryOf(join(path, name, ".git")) !== undefined);
}

/**
 * Counts the commits that only HEAD has (`ahead`), and that only the other commit has (`behind`).
 * @param since the name of a commit or branch
 * @throws GitError if there is no such commit or branch
 */
export async function aheadBehind(
  directory: string,
  since: string,
  env: Env,
): Promise<{ readonly ahead: number; readonly behind: number }> {
  const words = ["rev-list", "--left-right", "--count", "--end-of-options", `${since}...HEAD`, "--"];
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
  const there = refs.filter((ref) => known.includes(ref));
  const others = own.map((branch) => `--exclude=${branch}`);
  const words = [
    "rev-list",
    "--count",
    "HEAD",
    ...there,
    "--not",
    ...others,
    "--branches",
    "--tags",
    "--remotes",
  ];
  return Number((await git(directory, words, env)).trim());
}
