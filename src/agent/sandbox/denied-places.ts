import { join } from "node:path";
import { entryOf, isDirectory } from "../../os/files/fs.ts";
import { visitEntries } from "../../os/files/walk.ts";
import type { FileDenial } from "../permissions/denied-files.ts";
import { ANY_ENTRY, MAX_DIRECTORIES, SKIPPED } from "./protected-places.ts";
import type { UnnamedEntry } from "./unnamed-entries.ts";

/** An existing place that deny rules close: `none` hides it from commands, `read` only prevents writing. */
export interface DeniedPlace {
  readonly path: string;
  readonly access: "none" | "read";
}

/** The places that deny rules for files close. */
interface DeniedPlaces {
  readonly places: readonly DeniedPlace[];
  /** Entries whose paths are not UTF-8. */
  readonly unnamed: readonly UnnamedEntry[];
}

/** Directories that programs need to run at all: a rule for them applies to the tools only. */
const SYSTEM =
  /^\/(?:$|(?:bin|boot|dev|etc|lib\w*|nix|opt|proc|run|sbin|sys|usr|var|Applications|Library|System)(?:\/|$))/;

/**
 * Returns the places that deny rules for files close: in some directories at any depth, as far as a bounded search finds them,
 * and the places elsewhere that rules name.
 */
export async function deniedPlaces(
  denial: FileDenial | undefined,
  directories: readonly string[],
): Promise<DeniedPlaces> {
  if (denial === undefined) return { places: [], unnamed: [] };
  const found = new Map<string, DeniedPlace>();
  const unnamed: UnnamedEntry[] = [];
  const accessTo = (path: string, isDirectoryThere: boolean): DeniedPlace["access"] | undefined => {
    // `keys/**` closes the directory too, with every entry that is created later.
    const inside = isDirectoryThere ? denial.access(join(path, ANY_ENTRY)) : undefined;
    return inside === "none" ? "none" : (denial.access(path) ?? inside);
  };
  for (const path of denial.named) {
    if (entryOf(path) === undefined || SYSTEM.test(path)) continue;
    const access = accessTo(path, isDirectory(path));
    if (access !== undefined) found.set(path, { path, access });
  }
  for (const directory of directories) {
    await visitEntries(directory, {
      visit: ({ path, bytes, isDirectory: isDirectoryThere }) => {
        const access = accessTo(path, isDirectoryThere);
        if (access !== undefined && bytes !== undefined) unnamed.push({ path: bytes, access });
        else if (access !== undefined) found.set(path, { path, access });
        return access !== "none";
      },
      skip: SKIPPED,
      limit: MAX_DIRECTORIES,
    });
  }
  return { places: [...found.values()], unnamed };
}
