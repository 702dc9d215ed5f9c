import { describe, expect, test } from "vitest";
import {
  type InputAction,
  type InputEvent,
  type InputState,
  inputStep,
  SHOWN_STATES,
  toInputEvent,
} from "../../../../src/adapter/native/input-state.ts";

const STATES = Object.keys(SHOWN_STATES) as InputState[];
const EVENTS: readonly InputEvent[] = [
  ...["busy", "idle", "message", "check", "inbox-empty", "sent", "unconfirmed", "held", "unsent", "gone"],
] as InputEvent[];

/** The states and actions that the events lead to, one by one. */
function walk(from: InputState, ...events: InputEvent[]): string[] {
  let state = from;
  return events.map((event) => {
    const step = inputStep(state, event);
    state = step.state;
    return [state, ...step.actions].join(" ");
  });
}

describe("inputStep, for a program that reads keys", () => {
  test("types one message for each turn, when the program waits for input", () => {
    expect(walk("busy", "message", "check", "idle", "sent", "message", "idle", "inbox-empty")).toEqual([
      "busy",
      "busy",
      "typing type",
      "busy delivered",
      "busy",
      "typing type",
      "idle",
    ]);
    expect(walk("idle", "message", "unconfirmed")).toEqual(["typing type", "busy delivered"]);
  });

  test("pauses while a user has the screen, shows needs-input, and tries again on a slow check or the next turn (S29, S63)", () => {
    expect(walk("idle", "message", "held", "message", "check", "held", "check", "sent")).toEqual([
      "typing type",
      "held",
      "held",
      "typing type",
      "held",
      "typing type",
      "busy delivered",
    ]);
    expect(walk("held", "busy", "idle")).toEqual(["busy", "typing type"]);
    expect(SHOWN_STATES.held).toBe("needs-input");
  });

  test("never types a message twice: typed text is entered by teams or was entered by the user", () => {
    expect(walk("typing", "unsent", "check", "unsent", "check", "sent")).toEqual([
      "unsent",
      "typing submit",
      "unsent",
      "typing submit",
      "busy delivered",
    ]);
    expect(walk("unsent", "busy")).toEqual(["busy delivered"]);
    expect(walk("unsent", "idle")).toEqual(["typing delivered type"]);
    expect(walk("unsent", "message")).toEqual(["unsent"]);
    expect(SHOWN_STATES.unsent).toBe("needs-input");
  });

  test("keeps messages if the program answers before the typing is over", () => {
    expect(walk("typing", "busy", "idle", "sent", "inbox-empty")).toEqual([
      "typing",
      "answered",
      "typing delivered type",
      "idle",
    ]);
    expect(walk("typing", "idle", "held", "held")).toEqual(["answered", "typing type", "held"]);
    expect(walk("typing", "idle", "busy", "sent")).toEqual(["answered", "typing", "busy delivered"]);
  });

  test("reaches the state gone from every state when the program ends", () => {
    for (const state of STATES) expect(inputStep(state, "gone").state).toBe("gone");
    for (const event of EVENTS) expect(inputStep("gone", event)).toEqual({ state: "gone", actions: [] });
    for (const kind of ["held", "unsent"] as const) expect(toInputEvent({ kind, why: "gone" })).toBe("gone");
    expect(toInputEvent({ kind: "held", why: "in-mode" })).toBe("held");
    expect(toInputEvent({ kind: "sent" })).toBe("sent");
  });

  test("allows at most one action to begin for each event, and only in the state typing", () => {
    for (const state of STATES) {
      for (const event of EVENTS) {
        const { state: next, actions } = inputStep(state, event);
        const begins = actions.filter((action: InputAction) => action !== "delivered");
        expect(begins.length, `${state} ${event}`).toBeLessThanOrEqual(1);
        if (begins.length > 0) expect(next, `${state} ${event}`).toBe("typing");
      }
    }
  });
});
