import { pause, steadyNow } from "../../os/clock.ts";
import { readText } from "../../os/files/fs.ts";
import { fieldsOf } from "../reported-values.ts";

const POLL_MS = 10;
/** Maximum wait in milliseconds: the call continues afterwards in any case. */
const MAX_MS = 300;

/**
 * Waits until a config no longer says that this member is idle, at most for a moment. claude 2.1.34 empties the file before it writes
 * its state, and loses a permission request that it makes at that moment: the call would wait forever.
 * @param config path of the config file
 */
export async function untilTurnIsWritten(config: string, name: string): Promise<void> {
  const end = steadyNow() + MAX_MS;
  while (saysIdle(config, name) && steadyNow() < end) await pause(POLL_MS);
}

/** Whether the file says that the member is idle, or is being written. */
function saysIdle(config: string, name: string): boolean {
  const text = readText(config);
  // The team is gone.
  if (text === undefined) return false;
  try {
    const { members } = fieldsOf(JSON.parse(text));
    const all = Array.isArray(members) ? members.map(fieldsOf) : [];
    return all.some((member) => member.name === name && member.isActive === false);
  } catch {
    return true;
  }
}
