import { TeamError } from "../errors.ts";
import { systemClock } from "../os/clock.ts";
import { createWhole } from "../os/files/atomic-write.ts";
import { entryOf, readFrom, rename } from "../os/files/fs.ts";
import { operand } from "../text/shell-quote.ts";

/**
 * Copies a file that is broken, byte for byte, so that nothing of it is lost whatever a repair makes of it.
 * @returns where the copy is: `<path>.broken-<milliseconds>`
 * @throws TeamError PERMISSION_DENIED for a link: what it names is no team's, and would go into every archive as a copy
 */
export function copyAside(path: string): string {
  refuseLink(path);
  const bytes = readFrom(path, 0) ?? "";
  let at = systemClock.now();
  while (!createWhole(`${path}.broken-${at}`, bytes)) at += 1;
  return `${path}.broken-${at}`;
}

/**
 * Takes a file of which nothing can be saved out of the way, together with what a writer that has it open still adds.
 * @returns where it is now
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
      hint: `Look at where it leads, and remove it: rm ${operand(path)}`,
    },
  );
}
