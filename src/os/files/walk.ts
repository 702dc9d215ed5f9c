import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "./fs.ts";

interface WalkOptions {
  /** Names of directories to skip. */
  readonly skip: ReadonlySet<string>;
  /** Maximum number of files. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/**
 * Returns the relative paths of all regular files below a directory, ordered by name. Links are not followed, so the walk
 * ends and stays inside. Unreadable directories are skipped.
 */
export async function walkFiles(directory: string, options: WalkOptions): Promise<string[]> {
  const files: string[] = [];
  const open = [""];
  for (let next = open.pop(); next !== undefined && files.length < options.limit; next = open.pop()) {
    options.signal.throwIfAborted();
    const entries = await entriesOf(join(directory, next));
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) if (entry.isFile()) files.push(join(next, entry.name));
    const below = entries.filter((entry) => entry.isDirectory() && !options.skip.has(entry.name));
    open.push(...below.map((entry) => join(next, entry.name)).reverse());
  }
  return files.slice(0, options.limit);
}

interface FindOptions {
  /** Wanted entries are returned, and not entered. */
  isWanted(path: string, isDirectory: boolean): boolean;
  /** Names of directories to skip. */
  readonly skip: ReadonlySet<string>;
  /** Maximum number of directories to read. */
  readonly limit: number;
  /** Called with a directory that cannot be read; by default it is skipped. */
  readonly onUnreadable?: (path: string) => void;
}

/** Returns the absolute paths of wanted entries below a directory, nearest first. Does not follow links. */
export async function findEntries(directory: string, options: FindOptions): Promise<string[]> {
  const found: string[] = [];
  let open = [directory];
  let read = 0;
  while (open.length > 0 && read < options.limit) {
    const below: string[] = [];
    for (const at of open.slice(0, options.limit - read)) {
      read += 1;
      for (const entry of await entriesOf(at, options.onUnreadable)) {
        const path = join(at, entry.name);
        if (options.isWanted(path, entry.isDirectory())) found.push(path);
        else if (entry.isDirectory() && !options.skip.has(entry.name)) below.push(path);
      }
    }
    open = below;
  }
  return found;
}

async function entriesOf(
  directory: string,
  onUnreadable?: (path: string) => void,
): Promise<import("node:fs").Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    // Removed meanwhile, or unreadable: continue with the rest.
    if (!isMissing(error)) onUnreadable?.(directory);
    return [];
  }
}
