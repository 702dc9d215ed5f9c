import { expect, test } from "vitest";
import {
  IN_PROCESS_EVENTS,
  IN_PROCESS_STATES,
  type InProcessEvent,
  type InProcessState,
  isOver,
  nextInProcess,
  toInProcessEvent,
} from "../../../../src/backend/in-process/states.ts";
import { AGENT_STATES } from "../../../../src/schema/status.ts";

/** One letter for each state; a dot means that the state does not change. */
const LETTERS: Record<string, InProcessState> = {
  a: "active",
  i: "idle",
  w: "awaiting-approval",
  s: "shutdown-requested",
  x: "aborted",
  c: "completed",
  f: "failed",
  k: "killed",
};

test("nextInProcess maps every state and event as the table says", () => {
  const table = IN_PROCESS_STATES.map((state) => {
    const row = IN_PROCESS_EVENTS.map((event) => {
      const next = nextInProcess(state, event);
      return next === state ? "." : Object.keys(LETTERS).find((letter) => LETTERS[letter] === next);
    });
    return `${state.padEnd(18)} ${row.join(" ")}`;
  });
  expect(IN_PROCESS_EVENTS.join(" ")).toBe(
    "working resting asking stopping end-requested returned threw given-up",
  );
  expect(table).toEqual([
    "pending            a i . s x c f k",
    "active             . i w s x c f k",
    "idle               a . w s x c f k",
    "awaiting-approval  a i . s x c f k",
    "shutdown-requested . . . . x c f k",
    "aborted            . . . . . k k k",
    "completed          . . . . . . . .",
    "failed             . . . . . . . .",
    "killed             . . . . . . . .",
  ]);
});

test("completed, failed and killed are final, and every other state can reach one of them", () => {
  expect(IN_PROCESS_STATES.filter(isOver)).toEqual(["completed", "failed", "killed"]);
  for (const state of IN_PROCESS_STATES.filter((one) => !isOver(one))) {
    for (const event of ["returned", "threw", "given-up"] as const) {
      expect(isOver(nextInProcess(state, event))).toBe(true);
    }
  }
});

test("toInProcessEvent maps six reported states to events, and ignores the other states", () => {
  const reported = AGENT_STATES.map((state): [string, InProcessEvent | undefined] => [
    state,
    toInProcessEvent(state),
  ]);
  expect(Object.fromEntries(reported.filter(([, event]) => event !== undefined))).toEqual({
    running: "working",
    idle: "resting",
    "awaiting-approval": "asking",
    "needs-input": "asking",
    throttled: "working",
    stopping: "stopping",
  });
});
