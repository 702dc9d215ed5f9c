import { steadyNow } from "../../os/clock.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { readText } from "../../os/files/fs.ts";
import { livenessOf } from "../../os/process/identity.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { openFileBell } from "../../wakeup/file-bell.ts";

/** Maximum milliseconds between two checks whether the other process has recorded the end. */
const POLL_MS = 250;

/** True if the agent runs in another process, according to that process's records. */
export function isInOtherProcess({ instance, within }: PlaceRecord): boolean {
  if (within === undefined || livenessOf(within.process) !== "alive") return false;
  return !(readText(within.endRecord) ?? "").includes(instance);
}

/**
 * Requests the end of an agent from the process that runs it, with a file, and waits for the exit record.
 * @param graceMs milliseconds to wait
 * @returns the pid of that process if the agent has not ended in time
 */
export async function endInOtherProcess(place: PlaceRecord, graceMs: number): Promise<readonly number[]> {
  const { within, instance } = place;
  if (within === undefined || !isInOtherProcess(place)) return [];
  const bell = openFileBell(within.endRecord);
  const deadline = steadyNow() + graceMs;
  try {
    replaceFile(within.endWanted, instance, { sync: false });
    while (isInOtherProcess(place)) {
      const left = deadline - steadyNow();
      if (left <= 0) return [within.process.pid];
      await bell.wait({ timeoutMs: Math.min(left, POLL_MS) });
    }
    return [];
  } finally {
    bell.close();
  }
}
