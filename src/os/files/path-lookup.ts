import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { foldedName } from "../../text/folded-name.ts";
import { ifReadable } from "./if-readable.ts";

/** An existing file or directory. */
interface FoundPath {
  /** Where the path leads, with every link resolved. */
  readonly path: string;
  readonly isDirectory: boolean;
}

/** An entry of a directory, with its target if it is a link. */
interface Entry {
  readonly isDirectory: boolean;
  readonly size: number;
  readonly target?: string;
}

/** Maximum number of links in one path, the same as in Linux. */
const MAX_LINKS = 40;
/** After this number of lookups in one directory, reading its names is faster. */
const MAX_LOOKUPS = 8;
/** Size in bytes above which reading a directory takes longer than the lookups. */
const MAX_DIRECTORY_SIZE = 32_768;

/**
 * Resolves many absolute paths as they are at one moment. It asks the system at most once for each entry on the way, and for none
 * below a missing directory. Create a new instance to see later changes.
 */
export class PathLookup {
  /** Keyed by path, whose directory contains no link. */
  readonly #entries = new Map<string, Entry | undefined>();
  /** Keyed by a path's directory as given. */
  readonly #directories = new Map<string, FoundPath | undefined>();
  /** Keyed by directory: the number of lookups in it, or the folded names in it. */
  readonly #names = new Map<string, number | ReadonlySet<string>>();

  /** Returns where a path leads; undefined if it is missing, in a closed directory, or a loop of links. */
  find(path: string): FoundPath | undefined {
    const slash = path.lastIndexOf("/");
    const parent = path.slice(0, slash);
    if (!this.#directories.has(parent)) this.#directories.set(parent, this.#walk("", parent));
    const directory = this.#directories.get(parent);
    return directory?.isDirectory ? this.#walk(directory.path, path.slice(slash + 1)) : undefined;
  }

  /** @param from a directory without links */
  #walk(from: string, path: string): FoundPath | undefined {
    const parts = path.split("/").reverse();
    let at = from === "/" ? "" : from;
    let isDirectory = true;
    let links = MAX_LINKS;
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      if (!isDirectory) return undefined;
      if (part === "" || part === ".") continue;
      if (part === "..") {
        at = at.slice(0, at.lastIndexOf("/"));
        continue;
      }
      const entry = this.#entry(at, part);
      if (entry === undefined) return undefined;
      if (entry.target === undefined) {
        at = `${at}/${part}`;
        isDirectory = entry.isDirectory;
        continue;
      }
      links -= 1;
      if (links < 0) return undefined;
      if (entry.target.startsWith("/")) at = "";
      parts.push(...entry.target.split("/").reverse());
    }
    return { path: at || "/", isDirectory };
  }

  #entry(directory: string, name: string): Entry | undefined {
    const path = `${directory}/${name}`;
    if (this.#entries.has(path)) return this.#entries.get(path);
    const entry = this.#isListed(directory, name) ? entryAt(path) : undefined;
    this.#entries.set(path, entry);
    return entry;
  }

  /** False only if a directory's names have been read, and this one is not among them. */
  #isListed(directory: string, name: string): boolean {
    const names = this.#names.get(directory) ?? 0;
    if (typeof names !== "number") return names.has(foldedName(name));
    this.#names.set(directory, names + 1);
    if (names === MAX_LOOKUPS) {
      const listed = this.#namesIn(directory);
      if (listed !== undefined) this.#names.set(directory, listed);
    }
    return true;
  }

  #namesIn(directory: string): ReadonlySet<string> | undefined {
    const { size = Number.POSITIVE_INFINITY } = this.#entries.get(directory) ?? {};
    if (size > MAX_DIRECTORY_SIZE) return undefined;
    return ifReadable(() => new Set(readdirSync(directory).map(foldedName)));
  }
}

function entryAt(path: string): Entry | undefined {
  return ifReadable(() => {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined) return undefined;
    const { size } = entry;
    if (entry.isSymbolicLink()) return { isDirectory: false, size, target: readlinkSync(path) };
    return { isDirectory: entry.isDirectory(), size };
  });
}
