import { basename, join } from "node:path";
import { entryOf, isDirectory, listDir } from "../../os/files/fs.ts";
import { ifReadable } from "../../os/files/if-readable.ts";
import { visitEntries } from "../../os/files/walk.ts";
import { protectedReason } from "../permissions/protected-paths.ts";

/** Directories of generated or foreign files: their protected names have no effect there, and there are many. */
export const SKIPPED: ReadonlySet<string> = new Set([
  ...[".git", "node_modules", "target", "dist", "build", "out", "vendor", "venv", ".venv", "__pycache__"],
  ...[".cache", ".next", ".tox", "bower_components", "coverage"],
]);
/** Maximum directories that one search reads. */
export const MAX_DIRECTORIES = 2_000;

/** The result of a search. */
export interface FoundFiles {
  /** Protected entries. */
  readonly paths: readonly string[];
  /** `.git` directories, which are not protected as a whole. */
  readonly repositories: readonly string[];
  /** Entries of both kinds whose paths are not UTF-8. */
  readonly unnamed: readonly Buffer[];
}

/** The protected entries of some directories. */
export class ProtectedFiles {
  readonly #roots: readonly string[];
  /** Keyed by directory: its names and modification time at the last search, and the protected entries then. */
  readonly #known = new Map<string, { readonly state: string; readonly paths: readonly string[] }>();

  /** @param roots directories that are protected as a whole: those of teams, and the user's own programs */
  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** Returns the protected entries at the top of a directory. Fast if it has not changed since the last call. */
  at(directory: string): readonly string[] {
    if (!isDirectory(directory)) return [];
    const names = listDir(directory);
    const state = [entryOf(directory)?.mtimeMs, ...names].join("/");
    const known = this.#known.get(directory);
    if (known?.state === state) return known.paths;
    const paths = names
      .map((name) => join(directory, name))
      .filter((path) => isProtected(path, entryOf(path)?.isDirectory() === true, this.#roots));
    this.#known.set(directory, { state, paths });
    return paths;
  }

  /** Returns whether an entry exists and is protected as a whole. */
  covers(path: string): boolean {
    const entry = ifReadable(() => entryOf(path));
    return entry !== undefined && isProtected(path, entry.isDirectory(), this.#roots);
  }

  /** Returns the protected entries at any depth of a directory, as far as a bounded search finds them. */
  async below(directory: string): Promise<FoundFiles> {
    const [paths, repositories, unnamed]: [string[], string[], Buffer[]] = [[], [], []];
    await visitEntries(directory, {
      visit: ({ path, bytes, isDirectory: isDirectoryThere }) => {
        const isRepository = isDirectoryThere && basename(path) === ".git";
        if (!isRepository && !isProtected(path, isDirectoryThere, this.#roots)) return true;
        if (bytes !== undefined) unnamed.push(bytes);
        else (isRepository ? repositories : paths).push(path);
        return false;
      },
      skip: SKIPPED,
      limit: MAX_DIRECTORIES,
    });
    return { paths, repositories, unnamed };
  }
}

/** Name of an entry that no table names: only a directory that is protected as a whole protects it. */
export const ANY_ENTRY = "any-entry";

/** A `.git` directory is not protected as a whole: parts of it are writable. */
function isProtected(path: string, isDirectoryThere: boolean, roots: readonly string[]): boolean {
  if (!isDirectoryThere) return protectedReason(path, roots) !== undefined;
  return basename(path) !== ".git" && protectedReason(join(path, ANY_ENTRY), roots) !== undefined;
}
