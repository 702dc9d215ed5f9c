import type { AgentState } from "../../schema/status.ts";

/** Where an agent in the lead's process stands, from its start to its end. */
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

/** What happens to it: the first four are its own word, the others are seen from outside. */
export const IN_PROCESS_EVENTS = [
  "works",
  "rests",
  "asks",
  "agrees",
  "wanted",
  "returned",
  "threw",
  "given-up",
] as const;
export type InProcessEvent = (typeof IN_PROCESS_EVENTS)[number];

type Row = Partial<Record<InProcessEvent, InProcessState>>;

/** However it runs, this may come. */
const ANY: Row = {
  agrees: "shutdown-requested",
  wanted: "aborted",
  returned: "completed",
  threw: "failed",
  "given-up": "killed",
};

/** State × event → state; what is not listed leaves the state as it is (architecture.md rule 9). */
export const IN_PROCESS_TABLE: Readonly<Record<InProcessState, Row>> = {
  pending: { ...ANY, works: "active", rests: "idle" },
  active: { ...ANY, rests: "idle", asks: "awaiting-approval" },
  idle: { ...ANY, works: "active", asks: "awaiting-approval" },
  "awaiting-approval": { ...ANY, works: "active", rests: "idle" },
  // It says what it has to, and ends by itself.
  "shutdown-requested": ANY,
  // Whatever its code says then, it was ended from outside.
  aborted: { returned: "killed", threw: "killed", "given-up": "killed" },
  completed: {},
  failed: {},
  killed: {},
};

export function nextInProcess(state: InProcessState, event: InProcessEvent): InProcessState {
  return IN_PROCESS_TABLE[state][event] ?? state;
}

/** Whether nothing of it runs any more that anybody waits for. */
export function isOver(state: InProcessState): boolean {
  return Object.keys(IN_PROCESS_TABLE[state]).length === 0;
}

/** What an agent says of itself, as an event; undefined for what its end alone tells. */
export function toInProcessEvent(said: AgentState): InProcessEvent | undefined {
  return EVENTS[said];
}

const EVENTS: Partial<Record<AgentState, InProcessEvent>> = {
  running: "works",
  throttled: "works",
  idle: "rests",
  "needs-input": "asks",
  "awaiting-approval": "asks",
  stopping: "agrees",
};
