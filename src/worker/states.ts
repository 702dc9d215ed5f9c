import type { AgentState } from "../schema/status.ts";

/** What happens to a worker, as far as its state is concerned. */
export type WorkerEvent =
  | "ready"
  | "turn_started"
  | "turn_ended"
  | "turn_ended_asking"
  | "turn_interrupted"
  | "plan_sent"
  | "plan_answered"
  | "throttled"
  | "went_on"
  | "budget_spent"
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
>;

type Row = Partial<Record<WorkerEvent, WorkerState>>;

/** State × event → state; what is not listed leaves the state as it is (architecture.md rule 9). */
export const WORKER_STATES: Readonly<Record<WorkerState, Row>> = {
  starting: { ready: "idle", turn_started: "running", stop_agreed: "stopping", ended: "exited" },
  idle: { turn_started: "running", budget_spent: "paused", stop_agreed: "stopping", ended: "exited" },
  running: {
    turn_ended: "idle",
    turn_ended_asking: "needs-input",
    turn_interrupted: "idle",
    plan_sent: "awaiting-approval",
    throttled: "throttled",
    budget_spent: "paused",
    stop_agreed: "stopping",
    ended: "exited",
  },
  throttled: {
    went_on: "running",
    turn_ended: "idle",
    turn_ended_asking: "needs-input",
    turn_interrupted: "idle",
    stop_agreed: "stopping",
    ended: "exited",
  },
  // Behind a turn, with a question (S63).
  "needs-input": {
    turn_started: "running",
    turn_ended: "idle",
    turn_ended_asking: "needs-input",
    budget_spent: "paused",
    turn_interrupted: "idle",
    stop_agreed: "stopping",
    ended: "exited",
  },
  // In the middle of a turn, or with one that it cannot begin.
  paused: {
    went_on: "running",
    turn_started: "running",
    turn_ended: "idle",
    turn_ended_asking: "needs-input",
    turn_interrupted: "idle",
    stop_agreed: "stopping",
    ended: "exited",
  },
  // The turn that sent the plan ends while the verdict is still out: that is no idleness.
  "awaiting-approval": {
    plan_answered: "idle",
    stop_agreed: "stopping",
    ended: "exited",
  },
  stopping: { ended: "exited" },
  exited: {},
};

/** States that are told as they are, whatever is asked beside them: its plan or its end is what is waited for. */
const TOLD_FIRST: ReadonlySet<WorkerState> = new Set(["starting", "awaiting-approval", "stopping", "exited"]);

/**
 * What is told of a worker: one that has a permission open, its own or that of somebody who works for it, waits for a person
 * until the last of them is answered, in a turn and between two (S61).
 */
export function reportedState(state: WorkerState, openAsks: number): WorkerState {
  return openAsks > 0 && !TOLD_FIRST.has(state) ? "needs-input" : state;
}

export function nextState(state: WorkerState, event: WorkerEvent): WorkerState {
  return WORKER_STATES[state][event] ?? state;
}
