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
  /** Reports why missing FIFOs could not be recreated. */
  problem(error: unknown): void;
  /** Descriptor of this process's end of the socket pair with a parent that keeps running. */
  readonly socketFd?: number | undefined;
  /** Additional bells of this agent. */
  readonly others?: readonly Bell[];
}

/**
 * Opens all bells of an agent as one: its FIFO, a watch on its inbox for writers that do not ring, a timer, and the socket
 * pair with its parent. Also holds the agent's lifeline.
 */
export async function openWorkerBell(
  ref: TeamRef,
  agent: string,
  { problem, socketFd, others = [] }: WorkerBellOptions,
): Promise<Bell> {
  return anyBell([
    await openDurableBell({
      // Getters: a lead's team may move to another directory.
      get bell() {
        return ref.paths.agent(agent).bell;
      },
      get lifeline() {
        return ref.paths.agent(agent).lifeline;
      },
      make: () => createFifos(ref, agent),
      problem: exceptTeamNotFound(problem),
    }),
    openFileBell(() => ref.paths.inbox(agent)),
    timerBell(),
    ...(socketFd === undefined ? [] : [parentBell(ref, agent, socketFd)]),
    ...others,
  ]);
}

/** Creates missing FIFOs: the agent was started by hand, not spawned, or its runtime directory was removed. */
async function createFifos(ref: TeamRef, agent: string): Promise<void> {
  const { bell, lifeline } = ref.paths.agent(agent);
  if ([bell, lifeline].some((path) => entryOf(path) === undefined)) await prepareRun(ref, [agent]);
}

/** Drops TEAM_NOT_FOUND: the agent learns of the deletion when it reads its inbox. */
function exceptTeamNotFound(problem: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) problem(error);
  };
}

/** Also rings the socket pair when this child rings its readiness or the lead's bell. */
function parentBell(ref: TeamRef, agent: string, fd: number): Bell {
  const socket = socketBell(fd);
  for (const path of [ref.paths.agent(agent).ready, ref.paths.agent(LEAD_NAME).bell]) {
    alsoRing(path, () => socket.ring());
  }
  return socket;
}
