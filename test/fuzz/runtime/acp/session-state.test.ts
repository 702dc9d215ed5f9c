import fc from "fast-check";
import { expect, it } from "vitest";
import { NEW_SESSION, type SessionEvent, step } from "../../../../src/runtime/acp/session-state.ts";
import type { LeadRest } from "../../../../src/runtime/lead/lead.ts";
import { cases } from "../../../support/random/arbitraries.ts";

/** Events of a session, apart from its prompts. */
const happening: fc.Arbitrary<SessionEvent> = fc.oneof(
  fc.constantFrom<SessionEvent>({ type: "taken" }, { type: "turn_started" }, { type: "turn_ended" }),
  fc.record({
    type: fc.constant("rested" as const),
    rest: fc.constantFrom<LeadRest>("done", "interrupted", "failed", "asking"),
  }),
  fc.record({ type: fc.constant("cancelled" as const), inTurn: fc.boolean() }),
  fc.record({ type: fc.constant("requests" as const), open: fc.nat(2), isLeft: fc.boolean() }),
);
const promptEvent: fc.Arbitrary<"prompt" | "save" | "fail"> = fc.constantFrom("prompt", "save", "fail");

it("a session › ends each prompt exactly once, and withdraws only lines of cancelled prompts", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(happening, promptEvent), { maxLength: 60 }), (events) => {
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
      for (const event of events) {
        if (typeof event === "object") play(event);
        else if (event === "prompt") {
          prompts += 1;
          saving.push(prompts);
          play({ type: "prompted", prompt: prompts });
        } else {
          const prompt = saving.shift();
          if (prompt === undefined) continue;
          play(
            event === "save"
              ? { type: "saved", prompt, key: `k${prompt}` }
              : { type: "unsaved", prompt, failure: "full" },
          );
        }
      }
      play({ type: "ended", failure: "over" });
      for (let prompt = 1; prompt <= prompts; prompt += 1) expect(ends.get(prompt)).toHaveLength(1);
      for (const key of withdrawn) expect(ends.get(Number(key.slice(1)))).toEqual(["cancelled"]);
      expect(new Set(withdrawn).size).toBe(withdrawn.length);
    }),
    cases(5_000),
  );
});
