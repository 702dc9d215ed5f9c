import { basename, dirname } from "node:path";
import { watchDirectory } from "../os/watch.ts";
import type { Bell } from "./bell.ts";
import { Rings } from "./rings.ts";

/**
 * Rings when a file changes, for writers that know no bell. Its directory is watched, since every change is a new file
 * under the old name; what cannot be watched never rings.
 */
export function openWatchBell(file: string): Bell {
  const name = basename(file);
  const watching = watchDirectory(dirname(file), (changed) => {
    if (changed === undefined || changed === name) rings.ring();
  });
  const rings = new Rings(() => watching?.close());
  return rings;
}
