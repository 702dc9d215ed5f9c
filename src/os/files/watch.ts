import { watch } from "node:fs";
import { basename } from "node:path";
import { entryOf } from "./fs.ts";

/** A running watch of one directory. */
export interface DirectoryWatch {
  close(): void;
}

/**
 * Calls `onChange` with the name of each entry of a directory that changes, appears or goes; without a name where the
 * system gives none, and when the directory itself is gone. What cannot be watched (missing, or no watches left) is
 * not an error: whoever watches has a slow check besides.
 * @returns undefined when the directory cannot be watched
 */
export function watchDirectory(
  path: string,
  onChange: (name: string | undefined) => void,
): DirectoryWatch | undefined {
  try {
    const own = basename(path);
    const watcher = watch(path, { persistent: true }, (_event, name) => {
      // Linux tells of the directory's own end by the directory's name.
      const gone = name === own && entryOf(path) === undefined;
      onChange(gone ? undefined : (name ?? undefined));
    });
    watcher.on("error", () => {
      // The directory went away; its reader is to look once more and will find that.
      watcher.close();
      onChange(undefined);
    });
    return { close: () => watcher.close() };
  } catch {
    // ENOENT, ENOSPC, EMFILE: see above.
    return undefined;
  }
}
