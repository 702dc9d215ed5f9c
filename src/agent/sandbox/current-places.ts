import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ensureDir, entryOf } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { SandboxPlace } from "../../os/sandbox/view.ts";
import type { FileDenial } from "../permissions/denied-files.ts";
import { isInside, ownPrograms } from "../permissions/protected-paths.ts";
import { type DeniedPlace, deniedPlaces } from "./denied-places.ts";
import { commandFiles } from "./git-places.ts";
import { type PlacesOptions, sandboxPlaces } from "./places.ts";
import { ProtectedFiles } from "./protected-places.ts";
import { placesInstead, type UnnamedEntry, unnamedReport } from "./unnamed-entries.ts";

export interface CurrentPlacesOptions
  extends Pick<PlacesOptions, "roots" | "visible" | "home" | "env" | "write" | "read" | "temporary"> {
  /** The working directories of the agent; they can change while it runs. */
  readonly workingDirs: () => readonly string[];
  /** Returns the denied places of the agent's deny rules for files; undefined without one. */
  readonly denial?: (workingDirs: readonly string[]) => FileDenial | undefined;
  /** Called with new files from which other programs run commands: a command could create them, but not change others. */
  readonly onNewFiles?: (paths: readonly string[]) => void;
  /** Called with a line about entries that it cannot close alone. */
  readonly onUnnamed?: (line: string) => void;
}

/** The result of a search in the working directories. */
interface Found {
  /** The real paths of these directories. */
  readonly directories: readonly string[];
  /** Protected entries. */
  readonly nested: readonly string[];
  readonly denied: readonly DeniedPlace[];
  /** The deny rules that were applied. */
  readonly rules: string | undefined;
  readonly protectedFiles: ProtectedFiles;
}

/** The places of one agent's sandbox, which its commands, a person and new rules change. */
export class CurrentPlaces {
  readonly #options: CurrentPlacesOptions;
  #protected: { readonly programs: string; readonly files: ProtectedFiles } | undefined;
  /** Files that were there before the first command, or that were reported. */
  readonly #reported = new Set<string>();
  /** Keys of the entries that the pane has named to a person. */
  readonly #named = new Set<string>();
  /** Paths that were read-only for a command. */
  readonly #readOnly = new Set<string>();
  /** Keyed by writable directory: its real path when it was first used. */
  readonly #firstPlaces = new Map<string, string>();
  #found: Promise<Found>;
  #searching: Promise<unknown> | undefined;
  /** A command has ended since the search began. */
  #isStale = false;

  constructor(options: CurrentPlacesOptions) {
    this.#options = options;
    this.#found = this.#search();
    this.#found.then(
      ({ nested }) => {
        for (const path of nested) this.#reported.add(path);
      },
      // A command that needs the result gets the error.
      () => undefined,
    );
  }

  /** @throws Error if a writable directory leads elsewhere than at first */
  async look(): Promise<readonly SandboxPlace[]> {
    const { home, write, read } = this.#options;
    const workingDirs = this.#options.workingDirs().map((directory) => this.#pinned(directory));
    for (const directory of workingDirs) this.#reported.add(reserveSettings(directory));
    const protectedFiles = this.#protectedFor(workingDirs);
    const found = await this.#found;
    const isCurrent =
      found.rules === this.#denial()?.rules &&
      found.protectedFiles === protectedFiles &&
      isDeepStrictEqual(found.directories, workingDirs);
    // A new rule or directory applies at once, and to commands that wait for the search meanwhile.
    if (!isCurrent) this.#found = this.#searchBeyond(found);
    const { nested, denied } = await this.#found;
    const fromHome = (path: string): string => path.replace(/^~(?=\/|$)/, home);
    const places = sandboxPlaces({
      ...this.#options,
      workingDirs,
      write: write.map((path) => this.#pinned(fromHome(path))),
      read: read.map(fromHome),
      protectedFiles,
      nested,
      denied,
      earlier: this.#readOnly,
    });
    for (const { path, access } of places) if (access === "read") this.#readOnly.add(path);
    return places;
  }

  /** Searches again after a command. A command that starts meanwhile uses the result of the previous search. */
  async refresh(): Promise<void> {
    this.#isStale = true;
    this.#searching ??= this.#searchUntilFresh().finally(() => {
      this.#searching = undefined;
    });
    await this.#searching;
  }

  async #searchUntilFresh(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      try {
        const found = await this.#search();
        this.#found = Promise.resolve(found);
        const news = found.nested.filter((path) => !this.#reported.has(path));
        for (const path of news) this.#reported.add(path);
        if (news.length > 0) this.#options.onNewFiles?.(news);
      } catch {
        // The result of the previous search stays in force.
      }
    }
  }

  /**
   * Returns where a writable directory led at first. A command of another agent could replace it with a link to anywhere.
   * @throws Error if it leads elsewhere now
   */
  #pinned(directory: string): string {
    const real = realPathOf(directory);
    const first = this.#firstPlaces.get(directory) ?? real;
    this.#firstPlaces.set(directory, first);
    if (first === real) return real;
    throw new Error(`${directory} leads to ${real} now, and led to ${first} when the agent began`);
  }

  /**
   * Returns the protected entries if these are the working directories: one in `~/bin` makes the user's programs writable, as in
   * the permission rules.
   * @param workingDirs real paths
   */
  #protectedFor(workingDirs: readonly string[]): ProtectedFiles {
    const { home, roots } = this.#options;
    const own = ownPrograms(home, workingDirs, realPathOf);
    const programs = own.join("\0");
    if (this.#protected?.programs !== programs)
      this.#protected = { programs, files: new ProtectedFiles([...roots, ...own]) };
    return this.#protected.files;
  }

  #denial(): FileDenial | undefined {
    return this.#options.denial?.(this.#options.workingDirs().map(realPathOf));
  }

  /** Searches, and does not report what an earlier search did not look for: no command has created it since. */
  async #searchBeyond({ directories, protectedFiles }: Found): Promise<Found> {
    const found = await this.#search();
    const isSame = found.protectedFiles === protectedFiles;
    const programs = isSame ? [] : ownPrograms(this.#options.home, [], realPathOf);
    const isIn = (path: string, places: readonly string[]): boolean =>
      places.some((place) => isInside(path, place));
    for (const path of found.nested)
      if (!isIn(path, directories) || isIn(path, programs)) this.#reported.add(path);
    return found;
  }

  async #search(): Promise<Found> {
    const directories = this.#options.workingDirs().map(realPathOf);
    const denial = this.#denial();
    const protectedFiles = this.#protectedFor(directories);
    const [{ places, unnamed }, ...found] = await Promise.all([
      deniedPlaces(denial, directories),
      ...directories.map((directory) => protectedFiles.below(directory)),
    ]);
    const nested = found.flatMap(({ paths, repositories }) => [
      ...paths,
      ...repositories.flatMap(commandFiles),
    ]);
    const entries: readonly UnnamedEntry[] = [
      ...unnamed,
      ...found.flatMap((one) => one.unnamed.map((path) => ({ path, access: "read" as const }))),
    ];
    this.#report(entries, directories);
    const denied = [...places, ...placesInstead(entries, directories)];
    return { directories, nested, denied, rules: denial?.rules, protectedFiles };
  }

  /** Reports entries to a person, each once. */
  #report(entries: readonly UnnamedEntry[], directories: readonly string[]): void {
    const news = entries.filter(({ path, access }) => {
      const key = `${access} ${path.toString("latin1")}`;
      const isNew = !this.#named.has(key);
      this.#named.add(key);
      return isNew;
    });
    if (news.length > 0) this.#options.onUnnamed?.(unnamedReport(news, directories));
  }
}

/**
 * Creates the directory of a project's settings, empty, because a sandbox can protect only what exists: a command could
 * otherwise create settings that running agents follow at once. git does not see an empty directory.
 * @returns the directory
 */
function reserveSettings(directory: string): string {
  const settings = join(directory, ".claude");
  if (entryOf(settings) !== undefined || entryOf(directory) === undefined) return settings;
  try {
    ensureDir(settings);
  } catch {
    // Where this process cannot create it, no command can.
  }
  return settings;
}
