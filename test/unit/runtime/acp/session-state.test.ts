import { describe, expect, it } from "vitest";
import {
  activityOf,
  NEW_SESSION,
  type SessionEffect,
  type SessionEvent,
  step,
} from "../../../../src/runtime/acp/session-state.ts";

/** Feeds events to a new session. @returns all their effects */
function played(...events: readonly SessionEvent[]) {
  let state = NEW_SESSION;
  const effects: SessionEffect[] = [];
  for (const event of events) {
    const next = step(state, event);
    state = next.state;
    effects.push(...next.effects);
  }
  return {
    state,
    results: effects.flatMap((one) => (one.type === "end_prompt" ? [one.end] : [])),
    ends: effects.flatMap((one) => (one.type === "end_prompt" ? [[one.prompt, one.end.how]] : [])),
    withdrawn: effects.flatMap((one) => (one.type === "withdraw" ? [one.key] : [])),
    interrupts: effects.filter(({ type }) => type === "interrupt").length,
    activities: effects.flatMap((one) => (one.type === "activity" ? [one.activity] : [])),
  };
}

const prompted = (prompt: number): SessionEvent => ({ type: "prompted", prompt });
const saved = (prompt: number): SessionEvent => ({ type: "saved", prompt, key: `k${prompt}` });
const taken = (prompt: number): SessionEvent => ({ type: "taken", key: `k${prompt}` });
const started: SessionEvent = { type: "turn_started" };
const ended: SessionEvent = { type: "turn_ended" };
const rested = (rest: "done" | "interrupted" | "failed" | "asking", failure?: string): SessionEvent => ({
  type: "rested",
  rest,
  failure,
});
const requests = (open: number, isLeft = false): SessionEvent => ({ type: "requests", open, isLeft });

describe("the state of a session", () => {
  it("ends a prompt when the lead rests, not at the end of its turn", () => {
    const begun = [rested("done"), prompted(1), saved(1), taken(1), started, ended];
    expect(played(...begun).ends).toEqual([]);
    expect(played(...begun, rested("done")).ends).toEqual([[1, "done"]]);
  });

  it("reports each change of the activity once", () => {
    const events = [
      rested("done"),
      prompted(1),
      saved(1),
      taken(1),
      started,
      ended,
      rested("done"),
      rested("done"),
    ];
    expect(played(...events).activities).toEqual(["idle", "running", "idle"]);
  });

  it("keeps a prompt that no turn has taken when the lead rests", () => {
    const { ends, state } = played(prompted(1), rested("done"));
    expect(ends).toEqual([]);
    expect(activityOf(state)).toBe("running");
  });

  it("accepts a line that is read before its save is reported", () => {
    expect(played(prompted(1), taken(1), started, saved(1), ended, rested("done")).ends).toEqual([
      [1, "done"],
    ]);
  });

  it("ends a prompt together with the prompt that steered it", () => {
    const events = [
      prompted(1),
      saved(1),
      taken(1),
      started,
      prompted(2),
      saved(2),
      ended,
      taken(2),
      started,
      ended,
    ];
    expect(played(...events, rested("done")).ends).toEqual([
      [1, "done"],
      [2, "done"],
    ]);
  });

  it("cancels the running prompt at the end of its turn, and waiting prompts at once", () => {
    const begun = [prompted(1), saved(1), taken(1), started, prompted(2), saved(2)];
    const cancelled = played(...begun, { type: "cancelled", inTurn: true });
    expect(cancelled).toMatchObject({ ends: [[2, "cancelled"]], withdrawn: ["k2"] });
    expect(played(...begun, { type: "cancelled", inTurn: true }, ended, rested("interrupted")).ends).toEqual([
      [2, "cancelled"],
      [1, "cancelled"],
    ]);
  });

  it("cancels at once a prompt that waits for teammates", () => {
    const events = [
      prompted(1),
      saved(1),
      taken(1),
      started,
      ended,
      { type: "cancelled", inTurn: false },
    ] as const;
    expect(played(...events).ends).toEqual([[1, "cancelled"]]);
  });

  it("withdraws a line that was cancelled before it was saved", () => {
    const { ends, withdrawn } = played(prompted(1), { type: "cancelled", inTurn: false }, saved(1));
    expect(ends).toEqual([[1, "cancelled"]]);
    expect(withdrawn).toEqual(["k1"]);
  });

  it("fails a prompt whose model fails, and whose line cannot be saved", () => {
    expect(
      played(prompted(1), saved(1), taken(1), started, ended, rested("failed", "no credit")).ends,
    ).toEqual([[1, "failed"]]);
    expect(played(prompted(1), { type: "unsaved", prompt: 1, failure: "full" }).ends).toEqual([
      [1, "failed"],
    ]);
  });

  it("reports a missing login only if the newest turn of the prompt failed for it", () => {
    const begun = [rested("done"), prompted(1), saved(1), taken(1), started];
    const refused: SessionEvent = { type: "turn_ended", needsLogin: true };
    const endOf = (...events: readonly SessionEvent[]) =>
      played(...begun, ...events, rested("failed", "401")).results;
    expect(endOf(refused)).toEqual([{ how: "failed", failure: "401", needsLogin: true }]);
    expect(endOf(refused, started, ended)).toEqual([{ how: "failed", failure: "401", needsLogin: false }]);
  });

  it("waits for an answer that the client has, and ends if the client gives none", () => {
    const asked = [prompted(1), saved(1), taken(1), started, requests(1), ended, rested("asking")];
    expect(played(...asked)).toMatchObject({ ends: [], activities: ["requires_action"] });
    expect(played(...asked, requests(0, true)).ends).toEqual([[1, "done"]]);
    expect(played(...asked, requests(0)).ends).toEqual([]);
    expect(played(...asked, requests(0), started, ended, rested("done")).ends).toEqual([[1, "done"]]);
  });

  it("does not take the line of an earlier process for one of its prompts", () => {
    const { ends } = played(prompted(1), taken(9), started, ended, rested("done"), saved(1));
    expect(ends).toEqual([]);
  });

  it("interrupts a turn that began with the line of a cancelled prompt", () => {
    const cancelled: SessionEvent = { type: "cancelled", inTurn: false };
    expect(played(prompted(1), saved(1), cancelled, taken(1)).interrupts).toBe(1);
    expect(played(prompted(1), cancelled, taken(1), saved(1))).toMatchObject({
      interrupts: 1,
      withdrawn: [],
    });
    expect(played(prompted(1), saved(1), cancelled, prompted(2), saved(2), taken(2)).interrupts).toBe(0);
  });

  it("forgets withdrawn lines when the lead rests", () => {
    const cancelled: SessionEvent = { type: "cancelled", inTurn: false };
    const dropped = [prompted(1), saved(1), prompted(2), cancelled, saved(2)];
    expect(played(...dropped).state.withdrawn).toEqual(["k1", "k2"]);
    expect(played(...dropped, rested("done")).state.withdrawn).toEqual([]);
  });

  it("keeps an early line only until every save is reported", () => {
    const both = [prompted(1), prompted(2), taken(9), taken(2)];
    expect(played(...both, saved(1)).state.early).toEqual(["k9", "k2"]);
    expect(played(...both, saved(1), saved(2)).state.early).toEqual([]);
    const failed: SessionEvent = { type: "unsaved", prompt: 1, failure: "full" };
    expect(played(prompted(1), taken(9), failed).state.early).toEqual([]);
    expect(played(taken(9)).state.early).toEqual([]);
  });

  it("cancels at once a prompt whose turn has ended, and no later prompt", () => {
    const settling = [prompted(1), saved(1), taken(1), started, ended];
    const cancelled: SessionEvent = { type: "cancelled", inTurn: true };
    expect(played(...settling, cancelled).ends).toEqual([[1, "cancelled"]]);
    const next = [prompted(2), saved(2), taken(2), started, ended, rested("done")];
    expect(played(...settling, cancelled, ...next).ends).toEqual([
      [1, "cancelled"],
      [2, "done"],
    ]);
  });

  it("cancels a prompt whose turn ends without a report", () => {
    const events = [prompted(1), saved(1), taken(1), { type: "cancelled", inTurn: true }] as const;
    expect(played(...events, rested("done")).ends).toEqual([[1, "cancelled"]]);
  });

  it("fails a prompt after the end of the session", () => {
    const { ends, state } = played({ type: "ended", failure: "gone" }, prompted(1));
    expect(ends).toEqual([[1, "failed"]]);
    expect(activityOf(state)).toBe("idle");
  });

  it("fails every open prompt at the end of the session", () => {
    const { ends } = played(prompted(1), saved(1), taken(1), prompted(2), { type: "ended", failure: "gone" });
    expect(ends).toEqual([
      [1, "failed"],
      [2, "failed"],
    ]);
  });

  it("cancels every open prompt when it is closed, and fails later prompts", () => {
    const closed: SessionEvent = { type: "ended", failure: "closed", isClosed: true };
    expect(played(prompted(1), saved(1), taken(1), prompted(2), closed, prompted(3)).ends).toEqual([
      [1, "cancelled"],
      [2, "cancelled"],
      [3, "failed"],
    ]);
  });
});
