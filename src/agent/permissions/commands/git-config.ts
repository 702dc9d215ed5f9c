import { dirname, join, resolve } from "node:path";
import { isSystemError } from "../../../errors.ts";
import { type GitDirectories, gitDirectoriesOf } from "../../../git/repository.ts";
import { entryOf, isDirectory, listDir, readFrom, readText } from "../../../os/files/fs.ts";
import { realPathOf } from "../../../os/files/symlinks.ts";
import { isShortFile } from "../../../os/files/user-files.ts";

/**
 * Returns whether reading the repository of a directory runs no program that its files name, and reads no other repository. An
 * unpacked archive can bring a `.git` directory whose configuration or hooks run programs at `git status` or `git log`. True
 * outside a repository.
 * @param what `worktree` for commands that compare the index with files: these update the index, and look into submodules
 * @param home a repository of the home directory is not plain, because its objects and files are more than the project's
 */
export function isPlainRepository(directory: string, what: "objects" | "worktree", home?: string): boolean {
  try {
    return isPlainAbove(directory, what, home);
  } catch {
    // The file cannot be read here, but git may be able to read it.
    return false;
  }
}

function isPlainAbove(directory: string, what: "objects" | "worktree", home: string | undefined): boolean {
  for (let at = realPathOf(directory); ; at = dirname(at)) {
    if (entryOf(join(at, ".git")) !== undefined) return !isAtOrAbove(at, home) && isPlainAt(at, what, home);
    if (isBareRepository((name) => entryOf(join(at, name)) !== undefined)) return false;
    if (at === dirname(at)) return true;
  }
}

function isAtOrAbove(directory: string, home: string | undefined): boolean {
  return home !== undefined && `${realPathOf(home)}/`.startsWith(directory === "/" ? "/" : `${directory}/`);
}

/**
 * Returns whether entries of a directory make git treat it as a repository, whose `config` it then reads. With `commondir`, the
 * other entries are in the directory that this file names.
 */
export function isBareRepository(has: (name: string) => boolean): boolean {
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/** Git ignores a `.git` that is not a repository, so only a complete one counts. */
function isPlainAt(top: string, what: "objects" | "worktree", home: string | undefined): boolean {
  const found = gitDirectoriesOf(top);
  if (found?.top !== top) return false;
  const { own, common } = found;
  if (own === common && entryOf(join(common, "commondir")) !== undefined) return false;
  if (entryOf(join(own, "HEAD")) === undefined || !hasOwnObjects(common)) return false;
  return isPlain({ own, common }, what) && (what === "objects" || !runsUsersHook(top, home));
}

/** Returns whether a repository has its own objects: links and alternates lead to objects of another one. */
function hasOwnObjects(common: string): boolean {
  const isOwn = (name: string): boolean => entryOf(join(common, name))?.isDirectory() === true;
  const isAbsent = (name: string): boolean => entryOf(join(common, name)) === undefined;
  return (
    isOwn("objects") &&
    isOwn("refs") &&
    ["objects/pack", "objects/info"].every((name) => isOwn(name) || isAbsent(name)) &&
    isAbsent("objects/info/alternates")
  );
}

/** Returns whether a hook from the user's configuration would run: a relative `core.hooksPath` leads into each repository. */
function runsUsersHook(top: string, home: string | undefined): boolean {
  return usersHooks(top, home).some((hooks) => entryOf(join(hooks, INDEX_HOOK)) !== undefined);
}

/** The hook that `git status` runs. */
const INDEX_HOOK = "post-index-change";

function isPlain({ own, common }: GitDirs, what: "objects" | "worktree"): boolean {
  const ofWorktree = join(own, "config.worktree");
  const configs = [join(common, "config"), ...(entryOf(ofWorktree) === undefined ? [] : [ofWorktree])];
  for (const path of configs) {
    const config = shortText(path);
    if (config === undefined || !isPlainConfig(config, what)) return false;
  }
  if (what === "objects") return true;
  const hasHook = entryOf(join(common, "hooks", INDEX_HOOK)) !== undefined;
  const isSplit = listDir(own).some((name) => name.startsWith("sharedindex."));
  return !hasHook && !isSplit && !mayHaveSubmodules(join(own, "index"));
}

type GitDirs = Pick<GitDirectories, "own" | "common">;

/** Mode of a submodule in the index, as the four bytes of each entry. */
const SUBMODULE_MODE = Buffer.from([0, 0, 0xe0, 0]);

/** Returns whether an index may contain a submodule, whose configuration git also reads. Other bytes may look like its mode. */
function mayHaveSubmodules(index: string): boolean {
  return readFrom(index, 0)?.includes(SUBMODULE_MODE) === true;
}

/** Keys of a repository's configuration that run no program when git reads. Source: git-config(1). */
const PLAIN_KEYS: readonly RegExp[] = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|abbrev|quotepath|longpaths|untrackedcache|preloadindex|commentchar)$/,
  /^extensions\.(worktreeconfig|objectformat|refstorage|relativeworktrees|noop)$/,
  /^remote\..*\.(url|pushurl|fetch|push|tagopt|prune|gh-resolved)$/,
  /^branch\..*\.(remote|merge|rebase|pushremote|description|vscode-merge-base|github-pr-owner-number)$/,
  /^user\.(name|email|signingkey)$/,
  /^(push|pull|fetch|rebase|merge|init|gc|maintenance|advice|color|column|commit|tag|submodule|index|feature)\.[\w-]+$/,
  /^submodule\..*\.(url|active|branch)$/,
];
/** A key that matters only to commands that update the index. */
const HOOKS_KEY = "core.hookspath";

/** Returns whether a configuration has only known keys; false if this reader does not understand one of its lines. */
function isPlainConfig(text: string, what: "objects" | "worktree"): boolean {
  let section = "";
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (line === "" || /^[#;]/.test(line)) continue;
    const head = /^\[([\w.-]+)(?:\s+"([^"\\]*)")?\]$/.exec(line);
    if (head !== null) {
      section = `${head[1]?.toLowerCase()}${head[2] === undefined ? "" : `.${head[2]}`}`;
      continue;
    }
    const key = /^([A-Za-z][\w-]*)(?:\s*=.*)?$/.exec(line)?.[1];
    // A line that ends in a backslash continues.
    if (key === undefined || line.endsWith("\\")) return false;
    const name = `${section}.${key.toLowerCase()}`;
    const isHooks = name === HOOKS_KEY && what === "objects";
    if (!isHooks && !PLAIN_KEYS.some((known) => known.test(name))) return false;
  }
  return true;
}

/**
 * Returns the directories and files that git runs or obeys in a directory: the repository's own directory, the common
 * one of its worktrees, each `core.hooksPath`, and the files that its configuration includes.
 * @param home the user's configuration there may name hooks and files too
 */
export function gitDirectories(directory: string, home: string | undefined): readonly string[] {
  try {
    return directoriesAbove(directory, home);
  } catch {
    // An unreadable file; `.git` is protected by its name.
    return [];
  }
}

function directoriesAbove(directory: string, home: string | undefined): readonly string[] {
  for (let at = directory; ; at = dirname(at)) {
    const link = join(at, ".git");
    if (entryOf(link) !== undefined) {
      const admin = isDirectory(link) ? link : linkedDirectory(at, link);
      const common = resolve(admin, shortText(join(admin, "commondir"))?.trim() ?? ".");
      const configs = [join(common, "config"), join(admin, "config.worktree")];
      return [admin, common, ...namedByConfigs(configs, at, home).map(({ path }) => path)];
    }
    if (at === dirname(at)) return namedByConfigs([], directory, home).map(({ path }) => path);
  }
}

/** A section of a configuration with its name in quotes, and a key of it that names a repository. */
const SECTION = /^\s*\[([\w.-]+)(?:\s+"((?:\\.|[^"\\])*)")?\]/;
const NAMES_REPOSITORY = /^[^=]*\b(url|pushurl|remote|pushremote|pushdefault)\s*=\s*(.*)$/i;
/** A URL or an address of another machine. */
const ELSEWHERE = /^(?:(?:https?|ssh|git|git\+ssh|ssh\+git):\/\/|(?:[\w.-]+@)?[\w.-]+:(?!:|\/\/))/i;

/**
 * Returns the names of the remotes in a repository's configuration that are directories on this machine; an empty name for a
 * branch that is pushed to a directory, and for a directory that replaces the start of other URLs.
 */
export function localRemotesAt(directory: string): readonly string[] {
  try {
    return localRemotesAbove(directory);
  } catch {
    // The file cannot be read here, but git may be able to read it.
    return [""];
  }
}

function localRemotesAbove(directory: string): readonly string[] {
  for (let at = realPathOf(directory); ; at = dirname(at)) {
    if (entryOf(join(at, ".git")) !== undefined) {
      const { own, common } = gitDirectoriesOf(at) ?? { own: join(at, ".git"), common: join(at, ".git") };
      return [join(common, "config"), join(own, "config.worktree")].flatMap((path) =>
        localRemotesIn(textOf(path)),
      );
    }
    if (at === dirname(at)) return [];
  }
}

function localRemotesIn(config: string): readonly string[] {
  let [section, name] = ["", ""];
  return config.split("\n").flatMap((line) => {
    const head = SECTION.exec(line);
    if (head !== null) [section, name] = [(head[1] ?? "").toLowerCase(), head[2] ?? ""];
    if (head !== null && section === "url" && !ELSEWHERE.test(name)) return [""];
    const [, key = "", value = ""] = NAMES_REPOSITORY.exec(line) ?? [];
    if (key === "") return [];
    const isUrl = /url$/i.test(key);
    const isName = !isUrl && /^(?:\.|[\w@-][\w.@-]*)$/.test(configValue(value));
    return isName || ELSEWHERE.test(configValue(value)) ? [] : [isUrl && section === "remote" ? name : ""];
  });
}

/** Returns the directory that a `.git` file names; the file's own path if it names none. */
function linkedDirectory(at: string, link: string): string {
  const named = /^gitdir: (.+?)\n?$/.exec(shortText(link) ?? "")?.[1];
  return named === undefined ? link : resolve(at, named);
}

/** Returns the paths of hooks and of included files that the user's own configuration names for a worktree. */
function usersHooks(top: string, home: string | undefined): readonly string[] {
  return namedByConfigs([], top, home).map(({ path }) => path);
}

function userConfigs(home: string | undefined): readonly string[] {
  return home === undefined ? [] : [".gitconfig", ".config/git/config"].map((name) => join(home, name));
}

/** A key of a configuration that names hooks, or a file that is included, even on the line of its section. */
const NAMES_PLACE = /(?:^|\])[ \t]*(hooksPath|path)[ \t]*=[ \t]*(.*)$/gim;
/** A directory of hooks, or an included file. */
interface NamedPlace {
  readonly path: string;
  readonly isHooks: boolean;
}

/** Maximum number of configurations that are read, including the files that they include. */
const MAX_FILES = 20;

/**
 * Returns the directories of hooks and the included files that the user's configuration and others name. Every value counts,
 * whatever section it is in.
 * @param top relative paths of hooks start there
 */
export function namedByConfigs(
  configs: readonly string[],
  top: string,
  home: string | undefined,
): readonly NamedPlace[] {
  const open = [...userConfigs(home), ...configs];
  const named = new Map<string, NamedPlace>();
  for (let i = 0; i < open.length && i < MAX_FILES; i += 1) {
    const file = open[i] ?? "";
    for (const [, key = "", value = ""] of textOf(file).matchAll(NAMES_PLACE)) {
      const text = configValue(value).replace(/^~(?=\/)/, () => home ?? "~");
      if (text === "" || text === "/dev/null") continue;
      const isHooks = key.toLowerCase() === "hookspath";
      const path = resolve(isHooks ? top : dirname(file), text);
      named.set(path, { path, isHooks: isHooks || named.get(path)?.isHooks === true });
      if (!isHooks) open.push(path);
    }
  }
  named.delete(top);
  return [...named.values()];
}

/** Reads a configuration; empty if it is unreadable or too long. Git cannot read a directory or another user's file either. */
function textOf(file: string): string {
  try {
    return isShortFile(file) ? (readText(file) ?? "") : "";
  } catch (error) {
    if (isSystemError(error)) return "";
    throw error;
  }
}

/** Returns a value without its comment, quotes and escapes. */
function configValue(raw: string): string {
  const value = /^(?:"(?:\\.|[^"\\])*"|\\.|[^"\\;#])*/.exec(raw)?.[0] ?? "";
  return value.replace(/\\(.)|"/g, (_, escaped: string | undefined) => escaped ?? "").trim();
}

/** Reads a short regular file; undefined for every other file: a device would never end. */
function shortText(path: string): string | undefined {
  return isShortFile(path) ? readText(path) : undefined;
}
