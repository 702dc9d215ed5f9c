import { join } from "node:path";
import { entryOf, listDir, readText } from "../../os/files/fs.ts";
import { ancestorThat } from "../../os/process/ancestors.ts";
import { startTimeOf } from "../../os/process/identity.ts";

/** The directory of the records, each named by a pid. */
export const adoptedDirectory = (root: string): string => join(root, "teams-adopted");

/**
 * Returns the address of the member whose adopted program is an ancestor of this process; undefined if there is none.
 * @param from another process, which counts too
 */
export function adoptedAddress(root: string, from?: number): string | undefined {
  const directory = adoptedDirectory(root);
  const pids = listDir(directory);
  if (pids.length === 0) return undefined;
  let found: string | undefined;
  ancestorThat((pid) => {
    if (!pids.includes(String(pid))) return false;
    const [start, address, status = "", bridge, bridgeStart] =
      readText(join(directory, String(pid)))?.split("\n") ?? [];
    const counts = entryOf(status) !== undefined || startTimeOf(Number(bridge)) === bridgeStart;
    if (start === startTimeOf(pid) && counts) found = address;
    return found !== undefined;
  }, from);
  return found;
}
