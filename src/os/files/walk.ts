import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { entryOf, isMissing } from "./fs.ts";
import { ifReadable } from "./if-readable.ts";

interface WalkOptions {
  /** Names of directories to skip. */
  readonly skip: ReadonlySet<string>;
  /** Maximum number of files. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called with a directory that cannot be read; by default it is skipped. */
  readonly onUnreadable?: (path: string) => void;
  /** Called if there are more files than the limit. */
  readonly onLimit?: () => void;
}

/**
 * Returns the relative paths of all regular files below a directory, ordered by name. Links are not followed, so the walk
 * terminates and stays inside. All paths are byte texts: a name need not be UTF-8.
 */
export async function walkFiles(directory: string, options: WalkOptions): Promise<string[]> {
  const files: string[] = [];
  const open = [""];
  for (let next = open.pop(); next !== undefined && files.length <= options.limit; next = open.pop()) {
    options.signal.throwIfAborted();
    const entries = await entriesOf(join(directory, next), options.onUnreadable);
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) if (entry.isFile) files.push(join(next, entry.name));
    const below = entries.filter((entry) => entry.isDirectory && !options.skip.has(entry.name));
    open.push(...below.map((entry) => join(next, entry.name)).reverse());
  }
  if (files.length > options.limit) options.onLimit?.();
  return files.slice(0, options.limit);
}

/** Returns a path as a text with one character for each of its bytes. */
export function byteText(path: string): string {
  return ASCII.test(path) ? path : Buffer.from(path, "utf8").toString("latin1");
}

/** Returns the path of a {@link byteText}: as a text if it is UTF-8, else as bytes. */
export function pathOf(text: string): string | Buffer {
  if (ASCII.test(text)) return text;
  const bytes = bytesIn(text);
  return isUtf8(bytes) ? bytes.toString("utf8") : bytes;
}

/** Returns the bytes of a {@link byteText}. */
function bytesIn(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

const ASCII = /^[\x00-\x7f]*$/;

/** An entry that {@link visitEntries} has found. */
interface FoundEntry {
  /** Bytes that are not UTF-8 are U+FFFD here. */
  readonly path: string;
  /** The path if it is not UTF-8, so that no text names the entry. */
  readonly bytes: Buffer | undefined;
  readonly isDirectory: boolean;
}

interface VisitOptions {
  /** Returns whether to enter a directory. */
  visit(entry: FoundEntry): boolean;
  /** Names of directories to skip after the visit. */
  readonly skip: ReadonlySet<string>;
  /** Maximum number of directories to read. */
  readonly limit: number;
  /** Called with a directory that cannot be read; by default it is skipped. */
  readonly onUnreadable?: (path: string) => void;
}

/** Visits the entries below a directory, nearest first, by their absolute paths. Does not follow links. */
export async function visitEntries(directory: string, options: VisitOptions): Promise<void> {
  let open = [byteText(directory)];
  let read = 0;
  while (open.length > 0 && read < options.limit) {
    const below: string[] = [];
    for (const at of open.slice(0, options.limit - read)) {
      read += 1;
      for (const { name, isDirectory } of await entriesOf(at, options.onUnreadable)) {
        const text = join(at, name);
        const path = pathOf(text);
        const bytes = typeof path === "string" ? undefined : path;
        const isEntered = options.visit({ path: String(path), bytes, isDirectory });
        if (isEntered && isDirectory && !options.skip.has(name)) below.push(text);
      }
    }
    open = below;
  }
}

/** Whether the path of a listed entry is not UTF-8: the text, with U+FFFD for each such byte, names no entry. */
export function isUnnamed(path: string): boolean {
  return path.includes("\ufffd") && ifReadable(() => entryOf(path)) === undefined;
}

/** Returns the nearest directory of a path whose own path is UTF-8. */
export function nearestNamed(path: Buffer): string {
  const directory = pathOf(dirname(path.toString("latin1")));
  return typeof directory === "string" ? directory : nearestNamed(directory);
}

interface Entry {
  /** A byte text. */
  readonly name: string;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
}

/** @param directory a byte text */
async function entriesOf(directory: string, onUnreadable?: (path: string) => void): Promise<Entry[]> {
  try {
    // Names as bytes too: if a file system does not tell an entry's kind, Node joins the directory and the name.
    const entries = await readdir(bytesIn(directory), { withFileTypes: true, encoding: "buffer" });
    return entries.map((entry) => ({
      name: entry.name.toString("latin1"),
      isFile: entry.isFile(),
      isDirectory: entry.isDirectory(),
    }));
  } catch (error) {
    // The directory was removed meanwhile, or is unreadable: continue with the rest.
    if (!isMissing(error)) onUnreadable?.(String(pathOf(directory)));
    return [];
  }
}
