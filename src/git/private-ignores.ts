import { join, resolve } from "node:path";
import type { Env } from "../os/env.ts";
import { entryOf, readText } from "../os/files/fs.ts";
import { ifReadable } from "../os/files/if-readable.ts";
import { isShortFile } from "../os/files/user-files.ts";
import { git } from "./git.ts";
import { type CheckoutPlace, variablesOf } from "./hidden-changes.ts";

/** A checkout, and git's directory for all checkouts of its repository. */
interface IgnoringPlace extends CheckoutPlace {
  readonly common: string;
}

/**
 * Counts the untracked files and directories that only an ignore list of this repository outside the checkout ignores:
 * `info/exclude`, or a file that its own configuration names. A file that a `.gitignore` or the user's list for all repositories
 * ignores does not count, because it can be generated again.
 * @throws GitError
 */
export async function privatelyIgnored(place: IgnoringPlace, env: Env): Promise<number> {
  const { repository, user } = await listsOf(place, env);
  const lists = repository.filter(hasPattern);
  if (lists.length === 0) return 0;
  const hidden = await ignoredBy(place, env, lists.map(excludeFrom));
  if (hidden.length === 0) return 0;
  const readable = user.filter((list) => ifReadable(() => isShortFile(list)) === true);
  const words = ["--exclude-per-directory=.gitignore", ...readable.map(excludeFrom)];
  const publicly = await ignoredBy(place, env, words);
  const isPublic = (path: string): boolean =>
    publicly.some((other) => path === other || (other.endsWith("/") && path.startsWith(other)));
  return hidden.filter((path) => !isPublic(path)).length;
}

function excludeFrom(list: string): string {
  return `--exclude-from=${list}`;
}

/** Paths of the lists outside a checkout that git applies to it; they need not exist. */
interface IgnoreLists {
  /** The lists of its repository. */
  readonly repository: readonly string[];
  /** The user's list for all repositories; at most one. */
  readonly user: readonly string[];
}

async function listsOf(place: IgnoringPlace, env: Env): Promise<IgnoreLists> {
  const { top, common } = place;
  const ask = (...words: readonly string[]): Promise<string> =>
    git(top, ["config", "-z", ...words], env, variablesOf(place));
  const always = join(common, "info/exclude");
  // Each entry is a scope, then `key\nvalue`.
  const fields = (await ask("--list", "--show-scope")).split("\0");
  const at = fields.findLastIndex((field) => field.startsWith("core.excludesfile\n"));
  if (at === -1) return { repository: [always], user: defaultLists(top, env) };
  const [named = ""] = (await ask("--path", "--get", "core.excludesFile")).split("\0");
  const lists = named === "" ? [] : [resolve(top, named)];
  const isOwn = /^(?:local|worktree)$/.test(fields[at - 1] ?? "");
  return isOwn ? { repository: [always, ...lists], user: [] } : { repository: [always], user: lists };
}

/** Returns the user's list if no configuration names one (gitignore(5)). */
function defaultLists(top: string, { XDG_CONFIG_HOME: config, HOME: home }: Env): readonly string[] {
  if (config !== undefined && config !== "") return [resolve(top, config, "git/ignore")];
  return home === undefined || home === "" ? [] : [resolve(top, home, ".config/git/ignore")];
}

/** Whether a list may contain a pattern: git's own template has only comments. A long or special file is left to git, and counts. */
function hasPattern(list: string): boolean {
  const isPattern = (line: string): boolean => line.trim() !== "" && !line.startsWith("#");
  const hasOne = ifReadable(() => {
    if (entryOf(list) === undefined) return false;
    return !isShortFile(list) || (readText(list) ?? "").split("\n").some(isPattern);
  });
  // Git skips a list that it cannot read.
  return hasOne ?? false;
}

/** Returns the untracked files that these lists ignore; a directory that is ignored as a whole ends with `/`. */
async function ignoredBy(
  place: IgnoringPlace,
  env: Env,
  lists: readonly string[],
): Promise<readonly string[]> {
  const words = ["ls-files", "-z", "--others", "--ignored", "--directory", "--no-empty-directory", ...lists];
  const listed = await git(place.top, words, env, variablesOf(place));
  return listed.split("\0").filter((path) => path !== "");
}
