import type { AgentState } from "../../schema/status.ts";

/** The states of an agent in the lead's process, from start to end. */
export const IN_PROCESS_STATES = [
  "pending",
  "active",
  "idle",
  "awaiting-approval",
  "shutdown-requested",
  "aborted",
  "completed",
  "failed",
  "killed",
] as const;
export type InProcessState = (typeof IN_PROCESS_STATES)[number];

/** The agent reports the first four events itself; the others come from outside. */
export const IN_PROCESS_EVENTS = [
  "working",
  "resting",
  "asking",
  "stopping",
  "end-requested",
  "returned",
  "threw",
  "given-up",
] as const;
export type InProcessEvent = (typeof IN_PROCESS_EVENTS)[number];

type Row = Partial<Record<InProcessEvent, InProcessState>>;

/** Transitions that are possible in every running state. */
const ANY: Row = {
  stopping: "shutdown-requested",
  "end-requested": "aborted",
  returned: "completed",
  threw: "failed",
  "given-up": "killed",
};

/** State × event → state; an event that is not listed does not change the state. */
const IN_PROCESS_TABLE: Readonly<Record<InProcessState, Row>> = {
  pending: { ...ANY, working: "active", resting: "idle" },
  active: { ...ANY, resting: "idle", asking: "awaiting-approval" },
  idle: { ...ANY, working: "active", asking: "awaiting-approval" },
  "awaiting-approval": { ...ANY, working: "active", resting: "idle" },
  // The agent finishes its last turn and ends without being killed.
  "shutdown-requested": ANY,
  // Ended from outside, so the result of its code does not matter.
  aborted: { returned: "killed", threw: "killed", "given-up": "killed" },
  completed: {},
  failed: {},
  killed: {},
};

export function nextInProcess(state: InProcessState, event: InProcessEvent): InProcessState {
  return IN_PROCESS_TABLE[state][event] ?? state;
}

/** True for a final state: no process waits for the agent any more. */
export function isOver(state: InProcessState): boolean {
  return Object.keys(IN_PROCESS_TABLE[state]).length === 0;
}

/** Converts a reported state to an event; undefined for final states, which the end itself reports. */
export function toInProcessEvent(reported: AgentState): InProcessEvent | undefined {
  return EVENTS[reported];
}

const EVENTS: Partial<Record<AgentState, InProcessEvent>> = {
  running: "working",
  throttled: "working",
  idle: "resting",
  "needs-input": "asking",
  "awaiting-approval": "asking",
  stopping: "stopping",
};
