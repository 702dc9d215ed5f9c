import { steadyNow } from "../../os/clock.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { readText } from "../../os/files/fs.ts";
import { livenessOf } from "../../os/process/identity.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { openFileBell } from "../../wakeup/file-bell.ts";

/** Longest wait between two looks for an end that another process records, in milliseconds. */
const POLL_MS = 250;

/** Whether another process has it, as far as its records tell. */
export function isInOtherProcess({ instance, within }: PlaceRecord): boolean {
  if (within === undefined || livenessOf(within.process) !== "alive") return false;
  return !(readText(within.endRecord) ?? "").includes(instance);
}

/** Asks the process that has it, which watches its team's files. */
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
