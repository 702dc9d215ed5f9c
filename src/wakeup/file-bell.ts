import { basename, dirname } from "node:path";
import { type DirectoryWatch, watchDirectory } from "../os/files/watch.ts";
import { type Bell, ManualBell } from "./bell.ts";

/**
 * Opens a bell that rings when a file changes, for writers that ring no bell. It watches the directory, because each change replaces
 * the file. While the directory is missing or cannot be watched, nothing rings; each wait tries to watch it again.
 */
export function openFileBell(file: string): Bell {
  const name = basename(file);
  let watching: DirectoryWatch | undefined;
  let closed = false;
  const stop = (): void => {
    watching?.close();
    watching = undefined;
  };
  const watch = (): void => {
    watching = watchDirectory(dirname(file), (changed) => {
      // An event without a name may mean that the directory was removed; another one may replace it.
      if (changed === undefined) stop();
      if (changed === undefined || changed === name) rings.ring();
    });
  };
  const rings = new ManualBell(() => {
    closed = true;
    stop();
  });
  watch();
  return {
    wait: (options) => {
      if (watching === undefined && !closed) {
        watch();
        // The file may have changed before: wake the reader.
        if (watching !== undefined) rings.ring();
      }
      return rings.wait(options);
    },
    close: () => rings.close(),
  };
}
