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

/** The states and actions that some events lead through. */
function walk(from: TalkState, ...events: TalkEvent[]): string[] {
  let state = from;
  return events.map((event) => {
    const step = talkStep(state, event);
    state = step.state;
    return [state, ...step.actions].join(" ");
  });
}

describe("What is to be said to a program that reads keys", () => {
  test("is said when it waits, one message a turn", () => {
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

  test("waits while a person has the screen, shown as needs-input, until the slow check or the next turn (S29, S63)", () => {
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

  test("is never said twice: what stands in its input is entered, or was by the person", () => {
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

  test("is not forgotten when the program is so quick that it waits again before the talk is over", () => {
    expect(walk("talking", "busy", "idle", "sent", "nothing")).toEqual([
      "talking",
      "answered",
      "talking delivered talk",
      "idle",
    ]);
    expect(walk("talking", "idle", "held", "held")).toEqual(["answered", "talking talk", "held"]);
    expect(walk("talking", "idle", "busy", "sent")).toEqual(["answered", "talking", "busy delivered"]);
  });

  test("ends with the program, whatever it was at", () => {
    for (const state of STATES) expect(talkStep(state, "gone").state).toBe("gone");
    for (const event of EVENTS) expect(talkStep("gone", event)).toEqual({ state: "gone", actions: [] });
    for (const kind of ["held", "unsent"] as const) expect(toInputEvent({ kind, why: "gone" })).toBe("gone");
    expect(toInputEvent({ kind: "held", why: "in-mode" })).toBe("held");
    expect(toInputEvent({ kind: "sent" })).toBe("sent");
  });

  test("leads from every state on every event, talking exactly while a talk is under way", () => {
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
