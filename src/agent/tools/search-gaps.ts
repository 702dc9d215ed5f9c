import { isSystemError, systemCode } from "../../errors.ts";
import { cutText } from "../../text/characters/cut-text.ts";

/** Maximum paths that a note names. */
const MAX_NAMED = 5;
/** Maximum characters of such a path. */
const MAX_PATH = 200;

/** Error codes of paths without a file, so nothing is left out: removed meanwhile, or a loop of links. */
const NOWHERE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** The files and directories that a search left out. Without a note, the model would think that they have no matches. */
export class SearchGaps {
  readonly #unreadable = new Set<string>();
  readonly #others = new Set<string>();

  /** @param path of a file or a directory, absolute */
  addUnreadable(path: string): void {
    this.#unreadable.add(path);
  }

  /** @param note a clause */
  add(note: string): void {
    this.#others.add(note);
  }

  /** Returns the result of `read`; undefined if the path cannot be read. @throws errors that are not the system's */
  unlessUnreadable<T>(path: string | Buffer, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (!NOWHERE.has(systemCode(error) ?? "")) this.addUnreadable(String(path));
      return undefined;
    }
  }

  /**
   * Returns a line for each kind of gap.
   * @param shown returns a path as the results show it
   * @param isWithheld returns whether permission rules deny a path: no note names it
   */
  notes(shown: (path: string) => string, isWithheld: (path: string) => boolean = () => false): string[] {
    const paths = [...this.#unreadable].filter((path) => !isWithheld(path)).sort();
    const named = paths.slice(0, MAX_NAMED).map((path) => cutText(shown(path), MAX_PATH));
    const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : "";
    const unreadable =
      paths.length === 0 ? [] : [`could not be read, so not searched: ${named.join(", ")}${more}`];
    return [...unreadable, ...this.#others].map((note) => `(${note})`);
  }
}
