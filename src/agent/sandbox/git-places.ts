import { dirname, join, resolve } from "node:path";
import { type GitDirectories, gitDirectoriesOf } from "../../git/repository.ts";
import { ensureDir, entryOf, isDirectory, listDir, readText } from "../../os/files/fs.ts";
import { isShortFile } from "../../os/files/user-files.ts";

/** The parts of a repository that git's commands need, and those that make git run commands. Absolute paths. */
export interface GitPlaces {
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
}

/** Files of one git directory that name programs, or another directory with such files (gitrepository-layout(5)). */
const RUNS_COMMANDS = ["config", "config.worktree", "hooks", "commondir", "gitdir"];

/** Depth of a submodule's directory below `modules`: a submodule's path has several parts, and contains submodules. */
const MAX_MODULE_DEPTH = 6;

/** Returns the places of the repository that a directory is in. Creates its directory of hooks, which git may lack. */
export function gitPlaces(directory: string, home: string): GitPlaces {
  const git = gitDirectoriesOf(directory);
  if (git === undefined) return { writable: [], readOnly: [] };
  const { own, common } = git;
  makeHooks(common);
  const worktrees = join(common, "worktrees");
  const directories = [
    ...new Set([
      common,
      own,
      ...childrenOf(worktrees),
      ...modulesIn(join(common, "modules"), MAX_MODULE_DEPTH),
    ]),
  ];
  return {
    writable: [...new Set([own, common])],
    readOnly: [
      ...directories.flatMap((one) => RUNS_COMMANDS.map((name) => join(one, name))),
      ...namedByConfig(git, home),
    ],
  };
}

/** A missing directory could be created by a command: nothing can be mounted over it. */
function makeHooks(common: string): void {
  const hooks = join(common, "hooks");
  if (entryOf(hooks) !== undefined) return;
  try {
    ensureDir(hooks);
  } catch {
    // Where this process cannot create it, no command can.
  }
}

function childrenOf(directory: string): string[] {
  return isDirectory(directory) ? listDir(directory).map((name) => join(directory, name)) : [];
}

function modulesIn(directory: string, depth: number): string[] {
  if (depth === 0) return [];
  return childrenOf(directory)
    .filter((path) => entryOf(path)?.isDirectory())
    .flatMap((path) =>
      entryOf(join(path, "HEAD")) === undefined
        ? modulesIn(path, depth - 1)
        : [path, ...modulesIn(join(path, "modules"), depth - 1)],
    );
}

/** Returns the directory of hooks and the further files that the repository's config names: `core.hooksPath`, `include.path`. */
function namedByConfig({ top, own, common }: GitDirectories, home: string): string[] {
  return [join(common, "config"), join(own, "config.worktree")].flatMap((file) => {
    const lines = (isShortFile(file) ? readText(file) : undefined)?.matchAll(
      /^\s*(hooksPath|path)\s*=\s*"?([^"\n;#]+)/gim,
    );
    return [...(lines ?? [])].map(([, key = "", value = ""]) => {
      const path = value.trim().replace(/^~(?=\/)/, home);
      return resolve(key.toLowerCase() === "hookspath" ? top : dirname(file), path);
    });
  });
}
