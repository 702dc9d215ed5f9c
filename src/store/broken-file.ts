import { systemClock } from "../os/clock.ts";
import { createWhole } from "../os/create.ts";
import { readFrom, removeFile } from "../os/fs.ts";

/**
 * Copies a file that is broken, byte for byte, so that nothing of it is lost whatever a repair makes of it.
 * @returns where the copy is: `<path>.broken-<milliseconds>`
 */
export function keepBroken(path: string): string {
  const bytes = readFrom(path, 0) ?? "";
  let at = systemClock.now();
  while (!createWhole(`${path}.broken-${at}`, bytes)) at += 1;
  return `${path}.broken-${at}`;
}

/** Takes a file of which nothing can be saved out of the way. @returns where it is now */
export function setAside(path: string): string {
  const kept = keepBroken(path);
  removeFile(path);
  return kept;
}
