import { watch } from "node:fs";
import { basename } from "node:path";
import { entryOf } from "./fs.ts";

/** A running watch of one directory. */
export interface DirectoryWatch {
  close(): void;
}

/**
 * Calls `onChange` with the name of each entry of a directory that is changed, created or removed; without a name if the
 * system gives none, and when the directory itself is removed. A directory that cannot be watched (missing, or no watches
 * left) is not an error: callers also poll slowly.
 * @returns undefined when the directory cannot be watched
 */
export function watchDirectory(
  path: string,
  onChange: (name: string | undefined) => void,
): DirectoryWatch | undefined {
  try {
    const own = basename(path);
    const watcher = watch(path, { persistent: true }, (_event, name) => {
      // Linux reports the removal of the directory itself with its own name.
      const gone = name === own && entryOf(path) === undefined;
      onChange(gone ? undefined : (name ?? undefined));
    });
    watcher.on("error", () => {
      // The directory was removed; the caller finds that when it reads again.
      watcher.close();
      onChange(undefined);
    });
    return { close: () => watcher.close() };
  } catch {
    // ENOENT, ENOSPC, EMFILE: see above.
    return undefined;
  }
}
