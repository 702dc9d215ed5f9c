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

/** One letter a state; a dot is the state that it was. */
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

test("every state meets every event as the table says", () => {
  const table = IN_PROCESS_STATES.map((state) => {
    const row = IN_PROCESS_EVENTS.map((event) => {
      const next = nextInProcess(state, event);
      return next === state ? "." : Object.keys(LETTERS).find((letter) => LETTERS[letter] === next);
    });
    return `${state.padEnd(18)} ${row.join(" ")}`;
  });
  expect(IN_PROCESS_EVENTS.join(" ")).toBe("works rests asks agrees wanted returned threw given-up");
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

test("the last three are the ends, and every other state comes to one", () => {
  expect(IN_PROCESS_STATES.filter(isOver)).toEqual(["completed", "failed", "killed"]);
  for (const state of IN_PROCESS_STATES.filter((one) => !isOver(one))) {
    for (const event of ["returned", "threw", "given-up"] as const) {
      expect(isOver(nextInProcess(state, event))).toBe(true);
    }
  }
});

test("what an agent says of itself is an event, but for what its end alone tells", () => {
  const said = AGENT_STATES.map((state): [string, InProcessEvent | undefined] => [
    state,
    toInProcessEvent(state),
  ]);
  expect(Object.fromEntries(said.filter(([, event]) => event !== undefined))).toEqual({
    running: "works",
    idle: "rests",
    "awaiting-approval": "asks",
    "needs-input": "asks",
    throttled: "works",
    stopping: "agrees",
  });
});
