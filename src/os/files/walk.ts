import { readdir } from "node:fs/promises";
import { join } from "node:path";

interface WalkOptions {
  /** Names of directories that are not entered. */
  readonly skip: ReadonlySet<string>;
  /** After so many files it ends. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/**
 * Every regular file below a directory, by its path from there, in the order of names. Links are not followed, so that it
 * ends and stays inside; what may not be looked into is passed over.
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

async function entriesOf(directory: string): Promise<import("node:fs").Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch {
    // Gone meanwhile, or not ours to read: the rest of the tree still counts.
    return [];
  }
}
