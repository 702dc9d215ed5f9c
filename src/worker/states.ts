import type { AgentState } from "../schema/status.ts";

/** Events that change the state of a worker. */
export type WorkerEvent =
  | "ready"
  | "turn_started"
  | "turn_ended"
  | "turn_ended_asking"
  | "turn_interrupted"
  | "turn_unseen"
  | "alerted"
  | "plan_sent"
  | "plan_answered"
  | "throttled"
  | "resumed"
  | "budget_spent"
  | "limited"
  | "stop_agreed"
  | "ended";

export type WorkerState = Extract<
  AgentState,
  | "starting"
  | "running"
  | "idle"
  | "awaiting-approval"
  | "needs-input"
  | "throttled"
  | "paused"
  | "stopping"
  | "exited"
  | "unknown"
>;

type Row = Partial<Record<WorkerEvent, WorkerState>>;

/** State × event → state; an event that is not listed leaves the state as it is. */
export const WORKER_STATES: Readonly<Record<WorkerState, Row>> = {
  starting: { ready: "idle", turn_started: "running", stop_agreed: "stopping", ended: "exited" },
  idle: { turn_started: "running", budget_spent: "paused", stop_agreed: "stopping", ended: "exited" },
  running: {
    turn_ended: "idle",
    turn_ended_asking: "needs-input",
    turn_interrupted: "idle",
    turn_unseen: "unknown",
    plan_sent: "awaiting-approval",
    throttled: "throttled",
    budget_spent: "paused",
    limited: "paused",
    stop_agreed: "stopping",
    ended: "exited",
  },
  throttled: {
    resumed: "running",
    limited: "paused",
    turn_ended: "idle",
    turn_ended_asking: "needs-input",
    turn_interrupted: "idle",
    stop_agreed: "stopping",
    ended: "exited",
  },
  // After a turn that asked a question (S63).
  "needs-input": {
    turn_started: "running",
    turn_ended: "idle",
    turn_ended_asking: "needs-input",
    budget_spent: "paused",
    turn_interrupted: "idle",
    stop_agreed: "stopping",
    ended: "exited",
  },
  // During a turn, or before a turn that cannot begin.
  paused: {
    resumed: "running",
    turn_started: "running",
    turn_ended: "idle",
    turn_ended_asking: "needs-input",
    turn_interrupted: "idle",
    turn_unseen: "unknown",
    stop_agreed: "stopping",
    ended: "exited",
  },
  // The turn that sent the plan ends before the verdict arrives: the agent is not idle.
  "awaiting-approval": {
    plan_answered: "idle",
    stop_agreed: "stopping",
    ended: "exited",
  },
  // Its program does not report when a turn ends, but may send an alert (a bell, a notification).
  unknown: {
    turn_started: "running",
    alerted: "idle",
    budget_spent: "paused",
    stop_agreed: "stopping",
    ended: "exited",
  },
  stopping: { ended: "exited" },
  exited: {},
};

/** States that are reported even if a permission request is open. */
const REPORTED_FIRST: ReadonlySet<WorkerState> = new Set([
  "starting",
  "awaiting-approval",
  "stopping",
  "exited",
]);

/**
 * Returns the state to report: a worker with an open permission request, its own or a subagent's, waits for a person until the
 * last request is answered, during a turn and between turns (S61).
 */
export function reportedState(state: WorkerState, openRequests: number): WorkerState {
  return openRequests > 0 && !REPORTED_FIRST.has(state) ? "needs-input" : state;
}

export function nextState(state: WorkerState, event: WorkerEvent): WorkerState {
  return WORKER_STATES[state][event] ?? state;
}
