import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ensureDir, entryOf } from "../../os/files/fs.ts";
import { ifReadable } from "../../os/files/if-readable.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { SandboxPlace } from "../../os/sandbox/view.ts";
import type { FileDenial } from "../permissions/denied-files.ts";
import { isInside, ownPrograms } from "../permissions/protected-paths.ts";
import { type DeniedPlace, deniedPlaces } from "./denied-places.ts";
import { commandFiles } from "./git-places.ts";
import { MAX_PLACES, type PlacesOptions, sandboxPlaces } from "./places.ts";
import { ProtectedFiles } from "./protected-places.ts";
import { placesInstead, type UnnamedEntry, unnamedReport } from "./unnamed-entries.ts";

export interface CurrentPlacesOptions
  extends Pick<PlacesOptions, "roots" | "visible" | "home" | "env" | "write" | "read" | "temporary"> {
  /** The working directories of the agent; they can change while it runs. */
  readonly workingDirs: () => readonly string[];
  /** Returns the denied places of the agent's deny rules for files; undefined without such rules. */
  readonly denial?: (workingDirs: readonly string[]) => FileDenial | undefined;
  /** Called with new files from which other programs run commands: commands could create them, but cannot change existing ones. */
  readonly onNewFiles?: (paths: readonly string[]) => void;
  /** Called with a line about entries that the sandbox cannot close separately. */
  readonly onUnnamed?: (line: string) => void;
}

/** The result of a search in the working directories. */
interface Found {
  /** The real paths of these directories. */
  readonly directories: readonly string[];
  /** Protected entries. */
  readonly files: readonly string[];
  /** `.git` directories. */
  readonly repositories: readonly string[];
  /** The protected entries, and the files of these repositories that name programs. */
  readonly nested: readonly string[];
  /** The places that deny rules close. */
  readonly ruled: readonly DeniedPlace[];
  /** These places, and those that are closed instead of entries that no text names. */
  readonly denied: readonly DeniedPlace[];
  /** The deny rules that were applied. */
  readonly rules: string | undefined;
  readonly protectedFiles: ProtectedFiles;
}

/** The places of one agent's sandbox. Commands, a person and new rules change them. */
export class CurrentPlaces {
  readonly #options: CurrentPlacesOptions;
  #protected: { readonly programs: string; readonly files: ProtectedFiles } | undefined;
  /** Files that existed before the first command, or were reported. */
  readonly #reported = new Set<string>();
  /** Keys of the entries that the pane has named to a person. */
  readonly #named = new Set<string>();
  /** Paths that were read-only for a command. */
  readonly #readOnly = new Set<string>();
  /** Keyed by writable directory: its real path when it was first used. */
  readonly #firstPlaces = new Map<string, string>();
  #found: Promise<Found>;
  #latest: Found | undefined;
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

  /** Returns the places as they are now. @throws Error if a writable directory leads elsewhere than at first */
  async current(): Promise<readonly SandboxPlace[]> {
    const { home, write, read } = this.#options;
    const workingDirs = this.#options.workingDirs().map((directory) => this.#pinned(directory));
    for (const directory of workingDirs) this.#reported.add(reserveSettings(directory));
    const protectedFiles = this.#protectedFor(workingDirs);
    const found = await this.#found;
    const isCurrent =
      found.rules === this.#denial()?.rules &&
      found.protectedFiles === protectedFiles &&
      isDeepStrictEqual(found.directories, workingDirs);
    // A new rule or directory applies at once, also to commands that are waiting for the search.
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
        const newFiles = found.nested.filter((path) => !this.#reported.has(path));
        for (const path of newFiles) this.#reported.add(path);
        if (newFiles.length > 0) this.#options.onNewFiles?.(newFiles);
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
    throw new Error(`${directory} led to ${first} when the agent started, and now leads to ${real}`);
  }

  /**
   * Returns the protected entries if these are the working directories: a working directory in `~/bin` makes the user's programs
   * writable, as in the permission rules.
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

  /** Searches, and does not report entries outside the scope of an earlier search: no command has created them since. */
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
    const earlier = this.#foundBefore(protectedFiles, directories, denial);
    const files = [...new Set([...earlier.files, ...found.flatMap(({ paths }) => paths)])];
    const repositories = [...new Set([...earlier.repositories, ...found.flatMap((one) => one.repositories)])];
    const nested = [...files, ...repositories.flatMap(commandFiles)];
    const entries: readonly UnnamedEntry[] = [
      ...unnamed,
      ...found.flatMap((one) => one.unnamed.map((path) => ({ path, access: "read" as const }))),
    ];
    this.#report(entries, directories);
    const all = [...earlier.ruled, ...places].map((one) => [`${one.access} ${one.path}`, one] as const);
    const ruled = [...new Map(all).values()];
    const denied = [...ruled, ...placesInstead(entries, directories)];
    const rules = denial?.rules;
    this.#latest = { directories, files, repositories, nested, ruled, denied, rules, protectedFiles };
    return this.#latest;
  }

  /**
   * Returns what the last search found, as far as it still exists and counts: a command may create so many nearer directories and
   * files that a new search does not reach it.
   */
  #foundBefore(
    protectedFiles: ProtectedFiles,
    directories: readonly string[],
    denial: FileDenial | undefined,
  ): Pick<Found, "files" | "repositories" | "ruled"> {
    const latest = this.#latest;
    const own = latest?.protectedFiles === protectedFiles ? latest : undefined;
    const isIn = (path: string): boolean => directories.some((directory) => isInside(path, directory));
    const files = (own?.files ?? []).slice(0, MAX_PLACES);
    const repositories = (own?.repositories ?? []).slice(0, MAX_PLACES);
    const ruled = latest !== undefined && latest.rules === denial?.rules ? latest.ruled : [];
    return {
      files: files.filter((path) => isIn(path) && protectedFiles.covers(path)),
      repositories: repositories.filter(
        (path) => isIn(path) && ifReadable(() => entryOf(path)?.isDirectory()) === true,
      ),
      ruled: (["none", "read"] as const)
        .flatMap((access) => ruled.filter((one) => one.access === access).slice(0, MAX_PLACES))
        .filter(({ path }) => ifReadable(() => entryOf(path)) !== undefined),
    };
  }

  /** Reports entries to a person, each once. */
  #report(entries: readonly UnnamedEntry[], directories: readonly string[]): void {
    const newEntries = entries.filter(({ path, access }) => {
      const key = `${access} ${path.toString("latin1")}`;
      const isNew = !this.#named.has(key);
      this.#named.add(key);
      return isNew;
    });
    if (newEntries.length > 0) this.#options.onUnnamed?.(unnamedReport(newEntries, directories));
  }
}

/**
 * Creates an empty directory for a project's settings, because a sandbox can protect only an existing path: a command could
 * otherwise create settings that running agents follow at once. git does not see an empty directory.
 * @returns the directory
 */
function reserveSettings(directory: string): string {
  const settings = join(directory, ".claude");
  if (entryOf(settings) !== undefined || entryOf(directory) === undefined) return settings;
  try {
    ensureDir(settings);
  } catch {
    // If this process cannot create it, no command can.
  }
  return settings;
}
