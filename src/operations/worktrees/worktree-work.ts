import { join } from "node:path";
import { GitError } from "../../git/git.ts";
import { lockOf } from "../../git/own-repository.ts";
import { type DiscardLoss, discardLoss, type Unsaved } from "../../git/unsaved.ts";
import type { Env } from "../../os/env.ts";
import { entryOf } from "../../os/files/fs.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { shellWord } from "../../text/shell-quote.ts";

/** Explains why `git status` may show less. */
const FLAGS_TEXT =
  " (index flags hide some from git status; git ls-files -v shows them in lower case or as S)";

/** Explains why `git status` shows less, and how to see the files. */
const IGNORED_TEXT =
  " that only info/exclude or core.excludesFile of the repository ignores (git status --ignored shows them)";

/** Describes the work in a worktree that would be lost with it. */
export function unsavedText(work: Unsaved): string {
  const { commits, nested, operation } = work;
  return [
    ...(operation === undefined ? [] : [`a ${operation} is in progress in it`]),
    ...filesText(work),
    ...ignoredText(work),
    ...(commits === 0 ? [] : [`${commitCount(commits)} on no other branch or remote`]),
    ...nested.map((one) => {
      const texts = [...filesText(one), ...ignoredText(one), ...nestedText(one)];
      return `in ${one.path}: ${texts.join(", ")}`;
    }),
  ].join(", ");
}

/** Says why a worktree cannot be discarded: only branches survive, and these commits are on none, or not in this repository. */
export function lossText({ commits, nested }: DiscardLoss): string {
  return [
    ...(commits === 0 ? [] : [`its HEAD is detached, with ${commitCount(commits)} on no branch`]),
    ...nested.map((one) => `in ${one.path}: ${nestedText(one).join("")}`),
  ].join(", ");
}

/** Says how to save those commits. */
export function saveText(path: string, { commits, nested }: DiscardLoss): string {
  return [
    ...(commits === 0 ? [] : [`create a branch for them: git -C ${shellWord(path)} switch -c <name>`]),
    ...nested.map((one) => `push or copy the commits of ${shellWord(join(path, one.path))}`),
  ].join("; ");
}

/** Counts files: `1 changed and 2 untracked files`. Empty without any. */
export function filesText({
  changed,
  untracked,
  hasFlags,
}: Pick<Unsaved, "changed" | "untracked" | "hasFlags">): readonly string[] {
  const counts = [
    ...(changed === 0 ? [] : [`${changed} changed`]),
    ...(untracked === 0 ? [] : [`${untracked} untracked`]),
  ].join(" and ");
  const files = changed + untracked === 1 ? "file" : "files";
  return counts === "" ? [] : [`${counts} ${files}${hasFlags ? FLAGS_TEXT : ""}`];
}

function ignoredText({ ignored = 0 }: Pick<Unsaved, "ignored">): readonly string[] {
  return ignored === 0 ? [] : [`${ignored} untracked ${ignored === 1 ? "file" : "files"}${IGNORED_TEXT}`];
}

function nestedText({ commits }: { readonly commits: number }): readonly string[] {
  return commits === 0 ? [] : [`${commitCount(commits)} on no remote`];
}

function commitCount(commits: number): string {
  return commits === 1 ? "1 commit that is" : `${commits} commits that are`;
}

/**
 * Says how a person removes a kept worktree, if the usual command would fail or lose commits.
 * @returns undefined if it would only lose files
 */
export async function removalAdvice(
  { path, branch, repository }: WorktreeRecord,
  env: Env,
): Promise<string | undefined> {
  if (entryOf(path) === undefined) return undefined;
  let loss: DiscardLoss | undefined;
  let lock: string | undefined;
  try {
    lock = lockOf(path, repository);
    loss = await discardLoss(path, env, repository);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return `git may be unable to remove it: check ${shellWord(path)}, then remove the directory yourself.`;
  }
  const command = removeCommand(path, lock);
  if (loss !== undefined)
    return `Removing it would lose commits (${lossText(loss)}). First ${saveText(path, loss)}. Then: ${command}`;
  if (lock === undefined) return undefined;
  return `It is locked${lock === "" ? "" : ` (${lock})`}. To remove it with all its files anyway (the branch ${branch} is kept): ${command}`;
}

/** Returns the shell command that removes a worktree with all its files. @param lock the reason of its lock, if it is locked */
export function removeCommand(path: string, lock?: string): string {
  const force = lock === undefined ? "--force" : "--force --force";
  return `git -C ${shellWord(path)} worktree remove ${force} ${shellWord(path)}`;
}
