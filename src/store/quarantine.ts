import { TeamError } from "../errors.ts";
import { systemClock } from "../os/clock.ts";
import { createWhole } from "../os/files/atomic-write.ts";
import { entryOf, readFrom, rename } from "../os/files/fs.ts";
import { operand } from "../text/shell-quote.ts";

/**
 * Copies a broken file, byte for byte, so that a repair loses nothing.
 * @returns the path of the copy: `<path>.broken-<milliseconds>`
 * @throws TeamError PERMISSION_DENIED for a link: its target is not a team's file, and a copy would go into every archive
 */
export function copyAside(path: string): string {
  refuseLink(path);
  const bytes = readFrom(path, 0) ?? "";
  let at = systemClock.now();
  while (!createWhole(`${path}.broken-${at}`, bytes)) at += 1;
  return `${path}.broken-${at}`;
}

/**
 * Moves an unreadable file aside, including text that a writer which has it open still adds.
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

function refuseLink(path: string): void {
  if (!entryOf(path)?.isSymbolicLink()) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${path} is a link, which no repair follows; it was left as it is.`,
    {
      hint: `Check where it leads, and remove it: rm ${operand(path)}`,
    },
  );
}
