import { join } from "node:path";
import { entryOf, readText } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { isShortFile } from "../os/files/user-files.ts";
import { GitError } from "./git.ts";
import { type GitDirectories, gitDirectoriesOf } from "./repository.ts";

/**
 * Sections of a configuration that can make git run programs in a checkout, a rebase or a diff, even if hooks and monitors are off.
 * A section may follow another one on the same line.
 */
const RUNS_PROGRAMS = /\[\s*(?:filter|include|includeif|merge|diff|gpg)\b/i;
/** The setting that makes git work on the files of another directory. */
const LEADS_ELSEWHERE = /(?:^|[\s\]])worktree\s*=/i;

/**
 * Checks that git in a directory reads no configuration that a command of an agent may have created: a command in the sandbox
 * can create files next to the protected ones, and git runs outside the sandbox. Reads git's files and starts no process.
 * @throws GitError naming the file to remove
 */
export function requireOwnConfig(directory: string): void {
  const found = gitDirectoriesOf(directory);
  if (found === undefined) return;
  const { own, common } = found;
  const commondir = join(common, "commondir");
  if (entryOf(commondir) !== undefined)
    throw refusal(
      `${commondir} makes git use another repository's configuration; git never creates this file there, so remove the file`,
    );
  const config = join(own, "config.worktree");
  if (entryOf(config) === undefined) return;
  const text = isShortFile(config) ? readText(config) : undefined;
  if (text === undefined || RUNS_PROGRAMS.test(text)) throw refusal(`${config} may make git run programs`);
  if (own !== common && LEADS_ELSEWHERE.test(text))
    throw refusal(`${config} makes git work in another directory`);
}

/** Git LFS, which a person's own configuration may enable, runs the extensions that this section names. */
const EXTENDS_PROGRAMS = /\[\s*lfs\b/i;

/**
 * Checks that git in a repository inside a worktree runs no program that its configuration names: an agent can write all of it.
 * @param own git's directory of that repository
 * @throws GitError naming the file
 */
export function requirePlainConfig(own: string): void {
  const commondir = join(own, "commondir");
  if (entryOf(commondir) !== undefined)
    throw refusal(`${commondir} makes git use another repository's configuration`);
  for (const name of ["config", "config.worktree"]) {
    const file = join(own, name);
    if (entryOf(file) === undefined) continue;
    const text = isShortFile(file) ? readText(file) : undefined;
    if (text === undefined || RUNS_PROGRAMS.test(text) || EXTENDS_PROGRAMS.test(text))
      throw refusal(`${file} may make git run programs`);
  }
}

/**
 * Checks the same as {@link requireOwnConfig} for a linked worktree, and that the worktree still belongs to its repository: the
 * directory may have been replaced.
 * @param repository any directory of the repository, if it is known
 * @throws GitError
 */
export function requireLinkedWorktree(path: string, repository: string | undefined): void {
  const found = gitDirectoriesOf(path);
  const isLinked = found !== undefined && found.top === realPathOf(path) && found.own !== found.common;
  const expected = repository === undefined ? undefined : commonOf(repository);
  if (!isLinked || (expected !== undefined && expected !== found.common))
    throw refusal(`${path} is no longer a worktree of its repository`);
  requireOwnConfig(path);
}

/** Returns the reason of a worktree's lock, which may be empty; undefined if the worktree is not locked. @throws GitError */
export function lockOf(path: string, repository: string | undefined): string | undefined {
  requireLinkedWorktree(path, repository);
  const lock = join(gitDirectoriesOf(path)?.own ?? path, "locked");
  return entryOf(lock) === undefined ? undefined : isShortFile(lock) ? (readText(lock)?.trim() ?? "") : "";
}

function commonOf(repository: string): GitDirectories["common"] | undefined {
  return gitDirectoriesOf(repository)?.common;
}

function refusal(message: string): GitError {
  return new GitError(["rev-parse"], message);
}
