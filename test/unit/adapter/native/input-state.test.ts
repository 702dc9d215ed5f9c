import { describe, expect, test } from "vitest";
import {
  SHOWN_AS,
  type TalkAction,
  type TalkEvent,
  type TalkState,
  talkStep,
  toInputEvent,
} from "../../../../src/adapter/native/input-state.ts";

const STATES = Object.keys(SHOWN_AS) as TalkState[];
const EVENTS: readonly TalkEvent[] = [
  ...["busy", "idle", "message", "look", "nothing", "sent", "unconfirmed", "held", "unsent", "gone"],
] as TalkEvent[];

/** The states and actions that the events lead to, one by one. */
function walk(from: TalkState, ...events: TalkEvent[]): string[] {
  let state = from;
  return events.map((event) => {
    const step = talkStep(state, event);
    state = step.state;
    return [state, ...step.actions].join(" ");
  });
}

describe("talkStep, for a program that reads keys", () => {
  test("types one message for each turn, when the program waits for input", () => {
    expect(walk("busy", "message", "look", "idle", "sent", "message", "idle", "nothing")).toEqual([
      "busy",
      "busy",
      "talking talk",
      "busy delivered",
      "busy",
      "talking talk",
      "idle",
    ]);
    expect(walk("idle", "message", "unconfirmed")).toEqual(["talking talk", "busy delivered"]);
  });

  test("pauses while a user has the screen, shows needs-input, and tries again on a slow check or the next turn (S29, S63)", () => {
    expect(walk("idle", "message", "held", "message", "look", "held", "look", "sent")).toEqual([
      "talking talk",
      "held",
      "held",
      "talking talk",
      "held",
      "talking talk",
      "busy delivered",
    ]);
    expect(walk("held", "busy", "idle")).toEqual(["busy", "talking talk"]);
    expect(SHOWN_AS.held).toBe("needs-input");
  });

  test("never types a message twice: typed text is entered by teams or was entered by the user", () => {
    expect(walk("talking", "unsent", "look", "unsent", "look", "sent")).toEqual([
      "unsent",
      "talking enter",
      "unsent",
      "talking enter",
      "busy delivered",
    ]);
    expect(walk("unsent", "busy")).toEqual(["busy delivered"]);
    expect(walk("unsent", "idle")).toEqual(["talking delivered talk"]);
    expect(walk("unsent", "message")).toEqual(["unsent"]);
    expect(SHOWN_AS.unsent).toBe("needs-input");
  });

  test("keeps messages if the program answers before the typing is over", () => {
    expect(walk("talking", "busy", "idle", "sent", "nothing")).toEqual([
      "talking",
      "answered",
      "talking delivered talk",
      "idle",
    ]);
    expect(walk("talking", "idle", "held", "held")).toEqual(["answered", "talking talk", "held"]);
    expect(walk("talking", "idle", "busy", "sent")).toEqual(["answered", "talking", "busy delivered"]);
  });

  test("reaches the state gone from every state when the program ends", () => {
    for (const state of STATES) expect(talkStep(state, "gone").state).toBe("gone");
    for (const event of EVENTS) expect(talkStep("gone", event)).toEqual({ state: "gone", actions: [] });
    for (const kind of ["held", "unsent"] as const) expect(toInputEvent({ kind, why: "gone" })).toBe("gone");
    expect(toInputEvent({ kind: "held", why: "in-mode" })).toBe("held");
    expect(toInputEvent({ kind: "sent" })).toBe("sent");
  });

  test("allows at most one action to begin for each event, and only in the state talking", () => {
    for (const state of STATES) {
      for (const event of EVENTS) {
        const { state: next, actions } = talkStep(state, event);
        const begins = actions.filter((action: TalkAction) => action !== "delivered");
        expect(begins.length, `${state} ${event}`).toBeLessThanOrEqual(1);
        if (begins.length > 0) expect(next, `${state} ${event}`).toBe("talking");
      }
    }
  });
});
