import { join } from "node:path";
import { entryOf, isDirectory } from "../../os/files/fs.ts";
import { findEntries } from "../../os/files/walk.ts";
import type { FileDenial } from "../permissions/denied-files.ts";
import { ANY_ENTRY, MAX_DIRECTORIES, SKIPPED } from "./protected-places.ts";

/** An existing place that deny rules close: `none` hides it from commands, `read` only prevents writing. */
export interface DeniedPlace {
  readonly path: string;
  readonly access: "none" | "read";
}

/** Directories that programs need to run at all: a rule for them applies to the tools only. */
const SYSTEM =
  /^\/(?:$|(?:bin|boot|dev|etc|lib\w*|nix|opt|proc|run|sbin|sys|usr|var|Applications|Library|System)(?:\/|$))/;

/**
 * Returns the places that deny rules for files close: in some directories at any depth, as far as a bounded search finds them,
 * and those that rules name elsewhere.
 */
export async function deniedPlaces(
  denial: FileDenial | undefined,
  directories: readonly string[],
): Promise<readonly DeniedPlace[]> {
  if (denial === undefined) return [];
  const found = new Map<string, DeniedPlace>();
  const note = (path: string, isDirectoryThere: boolean): boolean => {
    // `keys/**` closes the directory too, with all that will be created in it.
    const inside = isDirectoryThere ? denial.access(join(path, ANY_ENTRY)) : undefined;
    const access = inside === "none" ? "none" : (denial.access(path) ?? inside);
    if (access !== undefined) found.set(path, { path, access });
    return access === "none";
  };
  for (const path of denial.named) {
    if (entryOf(path) !== undefined && !SYSTEM.test(path)) note(path, isDirectory(path));
  }
  for (const directory of directories) {
    await findEntries(directory, { isWanted: note, skip: SKIPPED, limit: MAX_DIRECTORIES });
  }
  return [...found.values()];
}
