import { join } from "node:path";
import { isDirectory, listDir } from "../os/fs.ts";
import { type DirectoryWatch, watchDirectory } from "../os/watch.ts";
import type { Bell } from "./bell.ts";
import { Rings } from "./rings.ts";

/** Names of what comes and goes around a change: locks, their owners, temporary files. */
const PASSING = /(^\.)|(\.(lock|q~*|owner|tmp)$)/;

/**
 * Rings when anything below some directories changes, for whoever shows it (sidebar, `status --watch`). Directories that
 * appear later are watched from then on; locks and temporary files do not ring.
 */
export function openTreeBell(dirs: readonly string[]): Bell {
  const watches = new Map<string, DirectoryWatch>();
  const rings = new Rings(() => {
    for (const watching of watches.values()) watching.close();
    watches.clear();
  });

  const follow = (dir: string): void => {
    if (watches.has(dir)) return;
    const watching = watchDirectory(dir, (name) => {
      if (name === undefined) forget(dir);
      else if (PASSING.test(name)) return;
      else if (isDirectory(join(dir, name))) follow(join(dir, name));
      else forget(join(dir, name));
      rings.ring();
    });
    if (watching === undefined) return;
    watches.set(dir, watching);
    for (const name of listDir(dir)) {
      if (!PASSING.test(name) && isDirectory(join(dir, name))) follow(join(dir, name));
    }
  };
  const forget = (dir: string): void => {
    watches.get(dir)?.close();
    watches.delete(dir);
  };

  for (const dir of dirs) follow(dir);
  return rings;
}
