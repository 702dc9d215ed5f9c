import fc from "fast-check";
import { expect, it } from "vitest";
import {
  NEW_SESSION,
  type SessionEvent,
  type SessionState,
  step,
} from "../../../../src/runtime/acp/session-state.ts";
import type { LeadRest } from "../../../../src/runtime/lead/lead.ts";
import { cases } from "../../../support/random/arbitraries.ts";

/** Events of a session, apart from its prompts. */
const sessionEvent: fc.Arbitrary<SessionEvent> = fc.oneof(
  fc.constantFrom<SessionEvent>({ type: "turn_started" }, { type: "turn_ended" }),
  fc.record({ type: fc.constant("taken" as const), key: fc.nat(8).map((at) => `k${at}`) }),
  fc.record({
    type: fc.constant("rested" as const),
    rest: fc.constantFrom<LeadRest>("done", "interrupted", "failed", "asking"),
  }),
  fc.record({ type: fc.constant("cancelled" as const), inTurn: fc.boolean() }),
  fc.record({ type: fc.constant("requests" as const), open: fc.nat(2), isLeft: fc.boolean() }),
);
const promptEvent: fc.Arbitrary<"prompt" | "save" | "fail"> = fc.constantFrom("prompt", "save", "fail");

/** Plays events, with the saves in the order of their prompts. */
function player() {
  let state = NEW_SESSION;
  let prompts = 0;
  /** Prompts whose save has not ended. */
  const saving: number[] = [];
  const ends = new Map<number, string[]>();
  const withdrawn: string[] = [];
  const play = (event: SessionEvent): void => {
    const next = step(state, event);
    state = next.state;
    for (const effect of next.effects) {
      if (effect.type === "end_prompt")
        ends.set(effect.prompt, [...(ends.get(effect.prompt) ?? []), effect.end.how]);
      if (effect.type === "withdraw") withdrawn.push(effect.key);
    }
  };
  const settleSave = (prompt: number | undefined, isSaved: boolean): void => {
    if (prompt === undefined) return;
    play(
      isSaved ? { type: "saved", prompt, key: `k${prompt}` } : { type: "unsaved", prompt, failure: "full" },
    );
  };
  return {
    ends,
    withdrawn,
    play,
    get state(): SessionState {
      return state;
    },
    happens(event: SessionEvent | "prompt" | "save" | "fail"): void {
      if (typeof event === "object") play(event);
      else if (event !== "prompt") settleSave(saving.shift(), event === "save");
      else {
        prompts += 1;
        saving.push(prompts);
        play({ type: "prompted", prompt: prompts });
      }
    },
    saveAll(): void {
      for (const prompt of saving.splice(0)) settleSave(prompt, true);
    },
    get prompts(): readonly number[] {
      return Array.from({ length: prompts }, (_, at) => at + 1);
    },
  };
}

const events = fc.array(fc.oneof(sessionEvent, promptEvent), { maxLength: 60 });

it("a session › ends each prompt exactly once, and withdraws only lines of cancelled prompts", () => {
  fc.assert(
    fc.property(events, (all) => {
      const session = player();
      for (const event of all) session.happens(event);
      session.play({ type: "ended", failure: "over" });
      for (const prompt of session.prompts) expect(session.ends.get(prompt)).toHaveLength(1);
      for (const key of session.withdrawn)
        expect(session.ends.get(Number(key.slice(1)))).toEqual(["cancelled"]);
      expect(new Set(session.withdrawn).size).toBe(session.withdrawn.length);
    }),
    cases(5_000),
  );
});

it("a session › ends every prompt when the lead has read all lines and rests, and keeps no line", () => {
  fc.assert(
    fc.property(events, (all) => {
      const session = player();
      for (const event of all) session.happens(event);
      session.saveAll();
      for (const prompt of session.prompts) session.play({ type: "taken", key: `k${prompt}` });
      session.play({ type: "turn_started" });
      session.play({ type: "turn_ended" });
      session.play({ type: "rested", rest: "done" });
      expect(session.state).toMatchObject({ early: [], withdrawn: [] });
      for (const prompt of session.prompts) expect(session.ends.get(prompt)).toHaveLength(1);
    }),
    cases(5_000),
  );
});
