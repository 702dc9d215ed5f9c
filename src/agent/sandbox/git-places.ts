import { join } from "node:path";
import { gitDirectoriesOf } from "../../git/repository.ts";
import { ensureDir, entryOf, listDir, readText } from "../../os/files/fs.ts";
import { ifReadable } from "../../os/files/if-readable.ts";
import { isShortFile } from "../../os/files/user-files.ts";
import { isUnnamed } from "../../os/files/walk.ts";
import { namedByConfigs } from "../permissions/commands/git-config.ts";
import { isInside } from "../permissions/protected-paths.ts";

/** The parts of a repository that git's commands need, and the parts that make git run commands. Absolute paths. */
export interface GitPlaces {
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
}

/** Files of one git directory that name programs, or another directory with such files (gitrepository-layout(5)). */
const RUNS_COMMANDS = ["config", "config.worktree", "hooks", "commondir", "gitdir"];

/** Depth of a submodule's directory below `modules`: a submodule's path has several parts, and contains submodules. */
const MAX_MODULE_DEPTH = 6;

/** Returns the places of the repository that contains a directory. Creates its hooks directories if they are missing. */
export function gitPlaces(directory: string, home: string): GitPlaces {
  const git = ifReadable(() => gitDirectoriesOf(directory));
  if (git === undefined) return { writable: [], readOnly: [] };
  const { own, common } = git;
  reserveHooks(join(common, "hooks"));
  // Each worktree has its own directories of submodules.
  const places = [...new Set([common, own, ...childrenOf(join(common, "worktrees"))])];
  const modules = places.map((place) => modulesIn(join(place, "modules"), MAX_MODULE_DEPTH));
  const directories = [...places, ...modules.flatMap((one) => one.named)];
  const named = namedByConfigs([join(common, "config"), join(own, "config.worktree")], git.top, home);
  for (const { path, isHooks } of named) if (isHooks && isInside(path, git.top)) reserveHooks(path);
  return {
    writable: [...new Set([own, common])],
    readOnly: [
      ...directories.flatMap((one) => RUNS_COMMANDS.map((name) => join(one, name))),
      ...modules.flatMap((one) => one.closed),
      ...named.map(({ path }) => path),
    ],
  };
}

/** Creates a missing directory of hooks: a command could create it, because nothing can be mounted over a missing path. */
function reserveHooks(hooks: string): void {
  try {
    if (entryOf(hooks) === undefined) ensureDir(hooks);
  } catch {
    // If this process cannot create it, no command can.
  }
}

/** Returns the entries of a directory; an empty list for a link, which git does not create here. */
function childrenOf(directory: string): string[] {
  const names = ifReadable(() => (entryOf(directory)?.isDirectory() ? listDir(directory) : []));
  return (names ?? []).map((name) => join(directory, name));
}

/** Returns true if a configuration names programs, or is too long to be checked: git would still read it. */
function isRisky(config: string): boolean {
  if (ifReadable(() => entryOf(config)) === undefined) return false;
  const text = ifReadable(() => (isShortFile(config) ? readText(config) : undefined));
  return text === undefined || PROGRAM_KEYS.test(text);
}

interface Modules {
  /** Directories of submodules. */
  readonly named: readonly string[];
  /** Directories to close as a whole, because the name of a submodule in them is not UTF-8. */
  readonly closed: readonly string[];
}

function modulesIn(directory: string, depth: number): Modules {
  if (depth === 0) return { named: [], closed: [] };
  const children = childrenOf(directory);
  const below = children
    .filter((path) => ifReadable(() => entryOf(path)?.isDirectory()))
    .map((path) => {
      if (ifReadable(() => entryOf(join(path, "HEAD"))) === undefined) return modulesIn(path, depth - 1);
      const { named, closed } = modulesIn(join(path, "modules"), depth - 1);
      return { named: [path, ...named], closed };
    });
  return {
    named: below.flatMap((one) => one.named),
    closed: [...(children.some(isUnnamed) ? [directory] : []), ...below.flatMap((one) => one.closed)],
  };
}

/** Keys of git-config(1) that name programs, in their sections; the section of pagers, shell commands, and URLs of programs. */
const PROGRAM_KEYS =
  /(?:^|\])[ \t]*(fsmonitor|hooksPath|templateDir|gitProxy|pager|editor|browser|askPass|\w*command|\w*cmd|textconv|external|diffFilter|clean|smudge|process|driver|program|helper|path|vcs|uploadPack|receivePack|packObjectsHook)\s*=|^[ \t]*\[pager\b|=[ \t]*"?!|\bext::/im;

/** Returns the files of a `.git` directory that make git run programs: its config, its hooks, a link to other such files. */
export function commandFiles(gitDirectory: string): readonly string[] {
  const at = (name: string): string => join(gitDirectory, name);
  return [
    ...["config"].map(at).filter(isRisky),
    ...childrenOf(at("hooks")).filter((path) => !path.endsWith(".sample")),
    ...["commondir"].map(at).filter((path) => ifReadable(() => entryOf(path)) !== undefined),
  ];
}
