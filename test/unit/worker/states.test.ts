import { describe, expect, it, test } from "vitest";
import {
  nextState,
  reportedState,
  WORKER_STATES,
  type WorkerEvent,
  type WorkerState,
} from "../../../src/worker/states.ts";

const EVENTS: readonly WorkerEvent[] = [
  "ready",
  "turn_started",
  "turn_ended",
  "turn_ended_asking",
  "turn_interrupted",
  "turn_unseen",
  "plan_sent",
  "plan_answered",
  "throttled",
  "resumed",
  "budget_spent",
  "stop_agreed",
  "ended",
];
const STATES = Object.keys(WORKER_STATES) as WorkerState[];

const stateAfter = (...events: WorkerEvent[]): WorkerState =>
  events.reduce(nextState, "starting" as WorkerState);

describe("the state of a worker", () => {
  const PATHS: readonly [WorkerState, ...WorkerEvent[]][] = [
    ["idle", "ready"],
    ["running", "ready", "turn_started"],
    ["idle", "ready", "turn_started", "turn_ended"],
    ["throttled", "ready", "turn_started", "throttled"],
    ["running", "ready", "turn_started", "throttled", "resumed"],
    ["idle", "ready", "turn_started", "throttled", "turn_ended"],
    ["paused", "ready", "budget_spent"],
    ["paused", "ready", "turn_started", "budget_spent"],
    ["running", "ready", "turn_started", "budget_spent", "resumed"],
    ["idle", "ready", "budget_spent", "turn_ended"],
    ["unknown", "ready", "turn_started", "turn_unseen"],
    ["unknown", "ready", "turn_started", "turn_unseen", "budget_spent", "turn_unseen"],
    ["stopping", "ready", "turn_started", "budget_spent", "stop_agreed"],
    ["needs-input", "ready", "turn_started", "turn_ended_asking"],
    ["running", "ready", "turn_started", "turn_ended_asking", "turn_started"],
    ["idle", "ready", "turn_started", "turn_ended_asking", "turn_started", "turn_ended"],
    ["awaiting-approval", "ready", "turn_started", "plan_sent"],
    ["idle", "ready", "turn_started", "plan_sent", "turn_ended", "plan_answered"],
    ["stopping", "ready", "turn_started", "stop_agreed"],
    ["stopping", "ready", "turn_started", "stop_agreed", "turn_ended"],
    ["exited", "ready", "turn_started", "stop_agreed", "ended"],
  ];

  it.each(PATHS.map(([state, ...events]) => ({ state, events, after: events.join(", ") })))(
    "is $state after $after",
    ({ state, events }) => {
      expect(stateAfter(...events)).toBe(state);
    },
  );

  it("stays awaiting-approval after the turn that sent the plan has ended (S64)", () => {
    expect(stateAfter("ready", "turn_started", "plan_sent", "turn_ended")).toBe("awaiting-approval");
  });

  test.each<[WorkerState, WorkerState]>([
    ["running", "needs-input"],
    ["idle", "needs-input"],
    ["throttled", "needs-input"],
    ["paused", "needs-input"],
    ["awaiting-approval", "awaiting-approval"],
    ["stopping", "stopping"],
    ["exited", "exited"],
  ])("that is %s is reported as %s while a permission is open", (state, reported) => {
    expect([reportedState(state, 1), reportedState(state, 2), reportedState(state, 0)]).toEqual([
      reported,
      reported,
      state,
    ]);
  });

  test.each(STATES)(
    "that is %s becomes exited at its end, and stopping after an agreed shutdown",
    (state) => {
      expect(nextState(state, "ended")).toBe("exited");
      expect(nextState(state, "stop_agreed")).toBe(state === "exited" ? "exited" : "stopping");
    },
  );

  test.each(EVENTS)("is final: %s does not change exited", (event) => {
    expect(nextState("exited", event)).toBe("exited");
    expect(["stopping", "exited"]).toContain(nextState("stopping", event));
  });
});
