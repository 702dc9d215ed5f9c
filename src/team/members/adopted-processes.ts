import { join } from "node:path";
import { entryOf, listDir, readText } from "../../os/files/fs.ts";
import { ancestorThat } from "../../os/process/ancestors.ts";
import { isLocalProcess, startTimeOf } from "../../os/process/identity.ts";

/** The directory of the records, each named by a pid. */
export const adoptedDirectory = (root: string): string => join(root, "teams-adopted");

/** A record: one line for each field. An older version wrote no pid space and no boot. */
interface AdoptedRecord {
  /** When the program started. */
  readonly start: string;
  /** `name@team` of its member. */
  readonly address: string;
  /** The path of the member's status. */
  readonly status: string;
  /** The process that records it, and when that process started. */
  readonly bridge: number;
  readonly bridgeStart: string;
  readonly pidSpace: string | undefined;
  readonly bootId: string | undefined;
}

/** Reads a record; the fields of a missing one are empty. */
export function readAdopted(path: string): AdoptedRecord {
  const [start = "", address = "", status = "", bridge, bridgeStart = "", pidSpace, bootId] =
    readText(path)?.split("\n") ?? [];
  const where = { pidSpace: pidSpace || undefined, bootId: bootId || undefined };
  return { start, address, status, bridge: Number(bridge), bridgeStart, ...where };
}

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
    const path = join(directory, String(pid));
    const { start, address, status, bridge, bridgeStart, ...where } = readAdopted(path);
    const counts = entryOf(status) !== undefined || startTimeOf(bridge) === bridgeStart;
    if (counts && start === startTimeOf(pid) && isLocalProcess({ pid, ...where })) found = address;
    return found !== undefined;
  }, from);
  return found;
}
