import { basename, dirname } from "node:path";
import { type DirectoryWatch, watchDirectory } from "../os/files/watch.ts";
import { type Bell, ManualBell } from "./bell.ts";

/**
 * Opens a bell that rings when a file changes, for writers that ring no bell. It watches the directory, because each change replaces
 * the file. While the directory is missing or cannot be watched, nothing rings; each wait tries to watch it again.
 * @param file a function is called at each wait: the file may be moved
 */
export function openFileBell(file: string | (() => string)): Bell {
  const pathNow = typeof file === "string" ? () => file : file;
  let path = pathNow();
  let watching: DirectoryWatch | undefined;
  let closed = false;
  const stop = (): void => {
    watching?.close();
    watching = undefined;
  };
  const watch = (): void => {
    path = pathNow();
    watching = watchDirectory(dirname(path), (changed) => {
      // An event without a name may mean that the directory was removed; another one may replace it.
      if (changed === undefined) stop();
      if (changed === undefined || changed === basename(path)) rings.ring();
    });
  };
  const rings = new ManualBell(() => {
    closed = true;
    stop();
  });
  watch();
  return {
    wait: (options) => {
      if (path !== pathNow()) stop();
      if (watching === undefined && !closed) {
        watch();
        // The file may have changed before it was watched: wake the reader.
        if (watching !== undefined) rings.ring();
      }
      return rings.wait(options);
    },
    close: () => rings.close(),
  };
}
