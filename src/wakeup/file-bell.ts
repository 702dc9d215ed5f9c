import { basename, dirname } from "node:path";
import { type DirectoryWatch, watchDirectory } from "../os/files/watch.ts";
import { type Bell, ManualBell } from "./bell.ts";

/**
 * Rings when a file changes, for writers that know no bell. Its directory is watched, since every change is a new file
 * under the old name. While that is not there, or cannot be watched, nothing rings; it is tried again before each wait.
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
      // Without a name it may be the directory's own end, and another may come in its place.
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
        // What was written before is looked for at once.
        if (watching !== undefined) rings.ring();
      }
      return rings.wait(options);
    },
    close: () => rings.close(),
  };
}
