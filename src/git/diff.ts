import { join } from "node:path";
import type { Env } from "../os/env.ts";
import { createTemporaryDirectory } from "../os/files/atomic-write.ts";
import { copyToNew, entryOf, removeTree } from "../os/files/fs.ts";
import { pathOf } from "../os/files/walk.ts";
import { shellBytes } from "../text/shell-quote.ts";
import { GitError, git } from "./git.ts";
import { clearFlags, flaggedFiles } from "./hidden-changes.ts";
import { requireOwnConfig } from "./own-repository.ts";
import { gitDirectoriesOf } from "./repository.ts";

/** The kind of change of a file since the base. */
export type FileStatus = "added" | "modified" | "deleted" | "renamed" | "copied" | "retyped" | "conflicted";

export interface FileDiff {
  /** Relative to the top of the worktree. If it is not UTF-8, it is quoted for the shell: `$'caf\\xe9'`. */
  readonly path: string;
  /** Its former path, if it was renamed or copied. */
  readonly from?: string;
  /** Number of added lines; null for a binary file. */
  readonly added: number | null;
  /** Number of removed lines; null for a binary file. */
  readonly removed: number | null;
  readonly status: FileStatus;
}

export interface Diff {
  readonly files: readonly FileDiff[];
  readonly patch: string;
}

/** Makes the output independent of the user's settings, and runs no diff program that they name. */
const PLAIN = ["--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"];
/** With diff.submodule=diff, git would run in a submodule and start programs that its configuration names. */
const SUBMODULES = ["--ignore-submodules=dirty", "--submodule=short"];
const FORM = ["--raw", "--numstat", "-z", "--find-renames", ...SUBMODULES];

/**
 * Returns how the files of a worktree differ from a commit. Files that git does not track count as additions, unless they are
 * ignored. Flags in the index hide no change. The worktree's index is not changed: git adds the untracked files to a copy of it,
 * without their content.
 * @param top the top of the worktree
 * @param form `files`: without the patch, which is then empty
 * @throws GitError
 */
export async function diffSince(
  top: string,
  base: string,
  env: Env,
  form: "whole" | "files" = "whole",
): Promise<Diff> {
  requireOwnConfig(top);
  const found = gitDirectoriesOf(top);
  if (found === undefined) throw new GitError(["diff"], `${top} is not in a git repository`);
  const scratch = createTemporaryDirectory("teams-index-");
  try {
    const copy = join(scratch, "index");
    const index = join(found.own, "index");
    if (entryOf(index)?.isFile()) copyToNew(index, copy);
    const extra = { GIT_INDEX_FILE: copy };
    const flagged = await flaggedFiles(found, env);
    if (flagged !== undefined) await clearFlags(found, flagged, env, extra);
    await addUntracked(top, env, extra);
    const options = [...PLAIN, ...FORM, ...(form === "whole" ? ["--patch"] : [])];
    const words = ["-c", "core.quotePath=false", "diff", ...options, "--end-of-options", base, "--"];
    return parseDiff(await git(top, words, env, extra, { encoding: "latin1" }));
  } finally {
    removeTree(scratch);
  }
}

/** Skips what git cannot add, such as a nested repository without a commit; git still adds the other files. */
async function addUntracked(top: string, env: Env, extra: Env): Promise<void> {
  try {
    await git(top, ["add", "--intent-to-add", "--ignore-errors", "--", "."], env, extra);
  } catch (error) {
    if (!(error instanceof GitError) || error.missing) throw error;
  }
}

const STATUSES: Readonly<Record<string, FileStatus>> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "retyped",
  U: "conflicted",
};

/**
 * Parses the output of `git diff --raw --numstat --patch -z`: three parts, and no byte of a path can end one of them. Pure.
 * @param text has one character for each byte: decoded as UTF-8, two different names could become the same
 */
function parseDiff(text: string): Diff {
  const statuses = new Map<string, FileStatus>();
  const files: FileDiff[] = [];
  let at = 0;
  const next = (): string => {
    const end = text.indexOf("\0", at);
    const field = text.slice(at, end < 0 ? text.length : end);
    at = end < 0 ? text.length : end + 1;
    return field;
  };
  while (text.startsWith(":", at)) {
    const letter = / ([A-Z])\d*$/.exec(next())?.[1] ?? "M";
    const first = next();
    statuses.set(letter === "R" || letter === "C" ? next() : first, STATUSES[letter] ?? "modified");
  }
  while (at < text.length && !text.startsWith("\0", at)) {
    const [, added = "", removed = "", path = ""] = /^([\d-]+)\t([\d-]+)\t(.*)$/s.exec(next()) ?? [];
    const from = path === "" ? next() : undefined;
    const name = path === "" ? next() : path;
    files.push({
      path: shownPath(name),
      ...(from === undefined ? {} : { from: shownPath(from) }),
      added: count(added),
      removed: count(removed),
      status: statuses.get(name) ?? "modified",
    });
  }
  return { files, patch: Buffer.from(text.slice(at + 1), "latin1").toString("utf8") };
}

function shownPath(text: string): string {
  const path = pathOf(text);
  return typeof path === "string" ? path : shellBytes(path);
}

function count(text: string): number | null {
  return /^\d+$/.test(text) ? Number(text) : null;
}

/**
 * Returns the commit at which the HEAD of a worktree forked from a branch.
 * @returns undefined if the branch does not exist, or has no common commit with HEAD
 */
export async function forkPoint(top: string, branch: string, env: Env): Promise<string | undefined> {
  const words = ["merge-base", "--end-of-options", "HEAD", `refs/heads/${branch}`];
  try {
    return (await git(top, words, env)).trim().split("\n")[0];
  } catch (error) {
    if (error instanceof GitError && !error.missing) return undefined;
    throw error;
  }
}

/** Returns the id of the empty tree, which is the state before the first commit. */
export async function emptyTree(directory: string, env: Env): Promise<string> {
  return (await git(directory, ["hash-object", "-t", "tree", "/dev/null"], env)).trim();
}

/** Returns the commit of HEAD, a branch or another name; undefined if it does not exist. */
export async function commitNamed(directory: string, name: string, env: Env): Promise<string | undefined> {
  const words = ["rev-parse", "--verify", "--quiet", `${name}^{commit}`];
  try {
    return (await git(directory, words, env)).trim() || undefined;
  } catch (error) {
    if (error instanceof GitError && !error.missing) return undefined;
    throw error;
  }
}
