import type { Agent } from "../agent/agent.ts";
import { announceReady } from "../launch/announce-ready.ts";
import type { Clock } from "../os/clock.ts";
import type { TeamMember } from "../schema/config.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import type { InboxEntry } from "../team/mailbox/receive.ts";
import type { TeamRef } from "../team/ref.ts";
import type { Bell } from "../wakeup/bell.ts";
import { LazyAgent } from "./lazy-agent.ts";
import { createWakeSignal, type WakeSignal, WorkerLifecycle } from "./lifecycle.ts";
import { EventRecorder } from "./reports/event-recorder.ts";
import { TeamNotifications } from "./reports/team-notifications.ts";
import type { StatusKeeper } from "./status-record.ts";
import { WorkSinceIdle } from "./turn/idle-notice.ts";
import { RunningTurn } from "./turn/running-turn.ts";
import { ShutdownRequests, TurnQueue } from "./turn-queue.ts";
import type { WorkerView } from "./view.ts";

/** The identity of a worker and its connections to the outside. */
export interface WorkerSetup {
  readonly ref: TeamRef;
  readonly name: string;
  readonly color?: string | undefined;
  readonly role: "teammate" | "lead";
  /** Its entry in the config at its start. */
  readonly entry?: TeamMember;
  readonly initialMode: PermissionMode;
  /** The mode after an approved plan, if the approval names none. */
  readonly modeAfterPlan: PermissionMode;
  readonly planFile: string;
  /** File of the agent's conversation; an existing conversation is continued. */
  readonly transcript: string;
  /** Rings when the FIFO is written, when the inbox changes, and at each slow check. */
  readonly bell: Bell;
  readonly status: StatusKeeper;
  readonly view: WorkerView;
  readonly clock: Clock;
  /** Ends the worker from outside; a running turn is interrupted. */
  readonly signal: AbortSignal;
  /**
   * Decides whether a worker with nothing left to do waits or ends. Called again each time it wakes up.
   * @param held unread messages that are not a reason to wait: idle notices that wait until no teammate works, and messages
   * that failed
   * @param interrupted the newest turn was interrupted, so more input is expected
   */
  decideWhenIdle?(held: number, interrupted: boolean): Promise<"wait" | "over">;
  /**
   * Returns whether a teammate is in a turn, or has sent something that this worker has not read. Until then plain idle
   * notices do not start a turn of the lead.
   * @param held as for {@link decideWhenIdle}
   */
  isTeamWorking?(held: number): Promise<boolean>;
  /** Whether the worker creates the agent first and waits for it: a person is looking at the agent's own screen. */
  readonly awaitsAgent?: boolean;
  /** Whether to start creating the agent immediately instead of at its first turn; the worker does not wait for it. */
  readonly preparesAgent?: boolean;
  /** Whether a typed line ends the running turn at its next step, so that the agent reads the line soon. */
  readonly steersTyped?: boolean;
  /** Whether the worker agrees to a shutdown that its agent leaves unanswered at the end of the turn. */
  readonly agreesUnanswered?: boolean;
  /** Agrees to a shutdown in place of the agent. */
  agreeToShutdown?(requestId: string): Promise<void>;
  /** Handles a message type that needs no model: the lead's side of shutdowns and permissions. */
  handleCodeOnlyMessage?(entry: InboxEntry): Promise<void>;
}

/**
 * Everything that the parts of a worker share. It is complete before the first part is created, and none of its own members
 * depends on it, so the parts can be created in any order.
 */
export interface WorkerContext extends WorkerSetup {
  readonly agent: LazyAgent;
  readonly queue: TurnQueue;
  readonly runningTurn: RunningTurn;
  readonly lifecycle: WorkerLifecycle;
  /** Set when the loop has something to check. */
  readonly wake: WakeSignal;
  readonly events: EventRecorder;
  readonly notifications: TeamNotifications;
  readonly shutdownRequests: ShutdownRequests;
  /** The content of the next idle notice. */
  readonly workSinceIdle: WorkSinceIdle;
}

export function createWorkerContext(setup: WorkerSetup, createAgent: () => Promise<Agent>): WorkerContext {
  const wake = createWakeSignal();
  const runningTurn = new RunningTurn();
  const lifecycle = new WorkerLifecycle({ ...setup, runningTurn, wake });
  const agent = new LazyAgent(createAgent, () => wake.set());
  return {
    ...setup,
    wake,
    runningTurn,
    lifecycle,
    agent,
    queue: new TurnQueue(setup.role),
    events: new EventRecorder(setup.ref, setup.name),
    notifications: new TeamNotifications({ ...setup, lifecycle, agent }),
    shutdownRequests: new ShutdownRequests((isAsked) => setup.status.setShutdownRequested(isAsked)),
    workSinceIdle: new WorkSinceIdle(),
  };
}

/**
 * Starts creating the agent if the setup `preparesAgent`. If it `awaitsAgent`, waits until the agent is ready or the worker ends.
 * If the creation fails, this does not reject: the worker's loop reports the failure.
 */
export async function startAgent(context: WorkerContext): Promise<void> {
  const { ref, name, agent, status, signal, wake, lifecycle, awaitsAgent, preparesAgent } = context;
  if (preparesAgent) agent.begin();
  if (!awaitsAgent) return;
  let isSettled = false;
  const settled = (): void => {
    isSettled = true;
    wake.set();
  };
  status.report("turn_started", "starts its program");
  agent.get().then(settled, settled);
  while (!isSettled && lifecycle.isRunning) await wake.wait(signal);
  if (agent.current?.hidesTurnEnds === true) status.hideTurnEnds();
  if (agent.current !== undefined) {
    status.programStarted();
    announceReady(ref.paths.agent(name));
  }
  status.report("turn_ended", "");
}
