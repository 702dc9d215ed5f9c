import { dirname, join, resolve } from "node:path";
import { entryOf, isDirectory, listDir, readFrom, readText } from "../../../os/files/fs.ts";

/**
 * Returns whether reading the repository of a directory runs no program that its files name. An unpacked archive can bring a
 * `.git` directory whose configuration or hooks run programs at `git status` or `git log`. True outside a repository.
 * @param what `worktree` for commands that compare the index with files: these update the index, and look into submodules
 */
export function isPlainRepository(directory: string, what: "objects" | "worktree"): boolean {
  try {
    return isPlainAbove(directory, what);
  } catch {
    // A file that cannot be read: git may be able to.
    return false;
  }
}

function isPlainAbove(directory: string, what: "objects" | "worktree"): boolean {
  for (let at = directory; ; at = dirname(at)) {
    const link = join(at, ".git");
    const admin = isDirectory(link)
      ? link
      : entryOf(link) === undefined
        ? undefined
        : linkedDirectory(at, link);
    if (admin !== undefined) return isPlain(admin, what);
    // Git takes such a directory for a bare repository.
    if (["HEAD", "objects", "refs"].every((name) => entryOf(join(at, name)) !== undefined)) return false;
    if (at === dirname(at)) return true;
  }
}

/** Returns the directory that a `.git` file names; the file's own path if it names none, which is then not plain. */
function linkedDirectory(at: string, link: string): string {
  const named = /^gitdir: (.+?)\n?$/.exec(readText(link) ?? "")?.[1];
  return named === undefined ? link : resolve(at, named);
}

function isPlain(admin: string, what: "objects" | "worktree"): boolean {
  const common = resolve(admin, readText(join(admin, "commondir"))?.trim() ?? ".");
  const config = readText(join(common, "config"));
  const own = readText(join(admin, "config.worktree"));
  if (
    config === undefined ||
    !isPlainConfig(config, what) ||
    (own !== undefined && !isPlainConfig(own, what))
  ) {
    return false;
  }
  if (what === "objects") return true;
  const hasHook = entryOf(join(common, "hooks", "post-index-change")) !== undefined;
  const isSplit = listDir(admin).some((name) => name.startsWith("sharedindex."));
  return !hasHook && !isSplit && !mayHaveSubmodules(join(admin, "index"));
}

/** Mode of a submodule in the index, as the four bytes of each entry. */
const SUBMODULE_MODE = Buffer.from([0, 0, 0xe0, 0]);

/** Git also reads the configuration of a submodule. Other bytes of the index may look like its mode. */
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
/** Keys that matter only to commands that update the index. */
const HOOKS_KEY = "core.hookspath";

/** Returns whether a configuration has only known keys. A line that this reader does not understand makes it unknown. */
export function isPlainConfig(text: string, what: "objects" | "worktree"): boolean {
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
 * Returns the directories whose files git runs or obeys in a directory: the repository's own one, the one that its worktrees
 * share, and `core.hooksPath`. Empty outside a repository.
 * @param home its `.gitconfig` may set the hooks' path too
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
  const user = home === undefined ? undefined : hooksPathIn(readText(join(home, ".gitconfig")), home, home);
  for (let at = directory; ; at = dirname(at)) {
    const link = join(at, ".git");
    if (entryOf(link) !== undefined) {
      const admin = isDirectory(link) ? link : linkedDirectory(at, link);
      const common = resolve(admin, readText(join(admin, "commondir"))?.trim() ?? ".");
      const hooks = hooksPathIn(readText(join(common, "config")), at, home) ?? user;
      return [admin, common, ...(hooks === undefined || hooks === at ? [] : [hooks])];
    }
    if (at === dirname(at)) return user === undefined ? [] : [user];
  }
}

function hooksPathIn(config: string | undefined, top: string, home: string | undefined): string | undefined {
  const path = /^\s*hooksPath\s*=\s*"?([^"\n;#]+?)"?\s*$/im.exec(config ?? "")?.[1];
  if (path === undefined || path === "/dev/null") return undefined;
  return path.startsWith("~/") ? join(home ?? "/", path.slice(2)) : resolve(top, path);
}
