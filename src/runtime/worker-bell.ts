import { TeamError } from "../errors.ts";
import { entryOf } from "../os/files/fs.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { prepareRun } from "../team/records/write-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { anyBell, type Bell } from "../wakeup/bell.ts";
import { openDurableBell } from "../wakeup/durable-bell.ts";
import { alsoRing } from "../wakeup/fifo-bell.ts";
import { openFileBell } from "../wakeup/file-bell.ts";
import { socketBell } from "../wakeup/socket-bell.ts";
import { timerBell } from "../wakeup/timer-bell.ts";

interface WorkerBellOptions {
  /** Hears why its FIFOs, which had gone, could not be made anew. */
  problem(error: unknown): void;
  /** Descriptor of the socket pair's end that a parent which stays has handed on. */
  readonly socketFd?: number | undefined;
  /** What else may ring. */
  readonly others?: readonly Bell[];
}

/**
 * Everything that may ring for an agent: its FIFO, the watch of its inbox for writers that do not ring, the slow check,
 * and the socket pair of a parent that stays. Its lifeline is held as well.
 */
export async function openWorkerBell(
  ref: TeamRef,
  agent: string,
  { problem, socketFd, others = [] }: WorkerBellOptions,
): Promise<Bell> {
  const { bell, lifeline } = ref.paths.agent(agent);
  return anyBell([
    await openDurableBell({
      bell,
      lifeline,
      make: () => makeFifosOf(ref, agent),
      problem: unlessGone(problem),
    }),
    openFileBell(ref.paths.inbox(agent)),
    timerBell(),
    ...(socketFd === undefined ? [] : [parentBell(ref, agent, socketFd)]),
    ...others,
  ]);
}

/** Whoever spawned it has made them; one that was started by hand, or whose runtime directory vanished, makes its own. */
async function makeFifosOf(ref: TeamRef, agent: string): Promise<void> {
  const { bell, lifeline } = ref.paths.agent(agent);
  if ([bell, lifeline].some((path) => entryOf(path) === undefined)) await prepareRun(ref, [agent]);
}

/** That its team was deleted, an agent learns from its mail. */
function unlessGone(problem: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) problem(error);
  };
}

/** What this child says to its parent's FIFOs, that it is ready or has written to the lead, goes through the pair too. */
function parentBell(ref: TeamRef, agent: string, fd: number): Bell {
  const socket = socketBell(fd);
  for (const path of [ref.paths.agent(agent).ready, ref.paths.agent(LEAD_NAME).bell]) {
    alsoRing(path, () => socket.ring());
  }
  return socket;
}
