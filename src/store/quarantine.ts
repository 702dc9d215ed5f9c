import { basename, dirname } from "node:path";
import { TeamError } from "../errors.ts";
import { systemClock } from "../os/clock.ts";
import { createWhole } from "../os/files/atomic-write.ts";
import { entryOf, listDir, readFrom, rename } from "../os/files/fs.ts";
import { operand } from "../text/shell-quote.ts";

/** Returns the paths of a file's quarantined copies, oldest first. */
export function copiesOf(path: string): string[] {
  const prefix = `${basename(path)}.broken-`;
  const times = listDir(dirname(path)).flatMap((name) => {
    const time = name.startsWith(prefix) ? name.slice(prefix.length) : "";
    return /^[0-9]{1,15}$/.test(time) ? [Number(time)] : [];
  });
  return times.sort((a, b) => a - b).map((time) => `${path}.broken-${time}`);
}

/**
 * Copies a broken file, byte for byte, so that a repair loses nothing. If a repair failed after its copy, the next one finds
 * and reuses that copy.
 * @returns the path of the copy: `<path>.broken-<milliseconds>`
 * @throws TeamError PERMISSION_DENIED for a link: its target is not a team's file, and a copy would go into every archive
 */
export function copyAside(path: string): string {
  refuseLink(path);
  const bytes = readFrom(path, 0) ?? Buffer.alloc(0);
  const newest = copiesOf(path).at(-1);
  if (newest !== undefined && isCopyOf(newest, bytes)) return newest;
  let at = systemClock.now();
  while (!createWhole(`${path}.broken-${at}`, bytes)) at += 1;
  return `${path}.broken-${at}`;
}

/**
 * Renames an unreadable file. A writer that has the file open continues to write to the renamed file.
 * @returns its new path: `<path>.broken-<milliseconds>`
 * @throws TeamError as {@link copyAside}
 */
export function quarantine(path: string): string {
  refuseLink(path);
  let at = systemClock.now();
  while (entryOf(`${path}.broken-${at}`) !== undefined) at += 1;
  rename(path, `${path}.broken-${at}`);
  return `${path}.broken-${at}`;
}

function isCopyOf(path: string, bytes: Buffer): boolean {
  const entry = entryOf(path);
  return (
    entry?.isFile() === true &&
    Number(entry.size) === bytes.length &&
    readFrom(path, 0)?.equals(bytes) === true
  );
}

function refuseLink(path: string): void {
  if (!entryOf(path)?.isSymbolicLink()) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${path} is a link, which no repair follows; nothing was changed.`,
    {
      hint: `Check where the link leads, and remove it: rm ${operand(path)}`,
    },
  );
}
