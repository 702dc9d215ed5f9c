import { dirname, join, resolve } from "node:path";
import { isSystemError } from "../../errors.ts";
import { type GitDirectories, gitDirectoriesOf } from "../../git/repository.ts";
import { ensureDir, entryOf, listDir, readText } from "../../os/files/fs.ts";
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
  const git = readable(() => gitDirectoriesOf(directory));
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
  try {
    if (entryOf(hooks) === undefined) ensureDir(hooks);
  } catch {
    // Where this process cannot create it, no command can.
  }
}

/** Returns the entries of a directory; none of a link to one, which git does not create here. */
function childrenOf(directory: string): string[] {
  const names = readable(() => (entryOf(directory)?.isDirectory() ? listDir(directory) : []));
  return (names ?? []).map((name) => join(directory, name));
}

/** Reads a file if it is a short regular one. */
function shortText(file: string): string | undefined {
  return readable(() => (isShortFile(file) ? readText(file) : undefined));
}

/** A command can make loops of links and closed directories: they must not end the agent, and git cannot read them either. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

function modulesIn(directory: string, depth: number): string[] {
  if (depth === 0) return [];
  return childrenOf(directory)
    .filter((path) => readable(() => entryOf(path)?.isDirectory()))
    .flatMap((path) =>
      readable(() => entryOf(join(path, "HEAD"))) === undefined
        ? modulesIn(path, depth - 1)
        : [path, ...modulesIn(join(path, "modules"), depth - 1)],
    );
}

/** Keys of git-config(1) that name programs, in their sections. */
const PROGRAM_KEYS =
  /^\s*(fsmonitor|hooksPath|sshCommand|gitProxy|pager|editor|askPass|command|textconv|clean|smudge|process|driver|program|helper|path)\s*=/im;

/** Returns the files of a `.git` directory that make git run programs: its config, its hooks, a link to other such files. */
export function commandFiles(gitDirectory: string): readonly string[] {
  const [config, hooks, commondir] = ["config", "hooks", "commondir"].map((name) => join(gitDirectory, name));
  const isRisky = (file = ""): boolean => PROGRAM_KEYS.test(shortText(file) ?? "");
  return [
    ...(isRisky(config) ? [config] : []),
    ...childrenOf(hooks ?? "").filter((path) => !path.endsWith(".sample")),
    ...(readable(() => entryOf(commondir ?? "")) === undefined ? [] : [commondir]),
  ].filter((path) => path !== undefined);
}

/** Returns the directory of hooks and the further files that the repository's config names: `core.hooksPath`, `include.path`. */
function namedByConfig({ top, own, common }: GitDirectories, home: string): string[] {
  return [join(common, "config"), join(own, "config.worktree")].flatMap((file) => {
    const lines = shortText(file)?.matchAll(/^\s*(hooksPath|path)\s*=\s*"?([^"\n;#]+)/gim);
    return [...(lines ?? [])].map(([, key = "", value = ""]) => {
      const path = value.trim().replace(/^~(?=\/)/, home);
      return resolve(key.toLowerCase() === "hookspath" ? top : dirname(file), path);
    });
  });
}
