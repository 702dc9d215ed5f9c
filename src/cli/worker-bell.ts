import { entryOf } from "../os/fs.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { prepareRun } from "../team/records.ts";
import type { TeamRef } from "../team/ref.ts";
import { anyBell } from "../wakeup/any-bell.ts";
import type { Bell } from "../wakeup/bell.ts";
import { ringBeside } from "../wakeup/beside.ts";
import { openFifoBell } from "../wakeup/fifo-bell.ts";
import { slowBell } from "../wakeup/slow-check.ts";
import { socketBell } from "../wakeup/socket-bell.ts";
import { openWatchBell } from "../wakeup/watch-bell.ts";

/**
 * Everything that may ring for an agent: its FIFO, the watch of its inbox for writers that do not ring, the slow check,
 * and the socket pair of a parent that stays.
 * @param socketFd descriptor of the socket pair's end, where there is one
 * @param others what else may ring
 */
export async function openWorkerBell(
  ref: TeamRef,
  agent: string,
  socketFd?: number,
  others: readonly Bell[] = [],
): Promise<Bell> {
  const { bell } = ref.paths.agent(agent);
  // Whoever spawned it has made the FIFOs; one that was started by hand makes its own.
  if (entryOf(bell) === undefined) await prepareRun(ref, [agent]);
  return anyBell([
    openFifoBell(bell),
    openWatchBell(ref.paths.inbox(agent)),
    slowBell(),
    ...(socketFd === undefined ? [] : [parentBell(ref, agent, socketFd)]),
    ...others,
  ]);
}

/** What this child says to its parent's FIFOs, that it is ready or has written to the lead, goes through the pair too. */
function parentBell(ref: TeamRef, agent: string, fd: number): Bell {
  const socket = socketBell(fd);
  for (const path of [ref.paths.agent(agent).ready, ref.paths.agent(LEAD_NAME).bell]) {
    ringBeside(path, () => socket.ring());
  }
  return socket;
}
