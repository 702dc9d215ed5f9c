import { expect, test } from "vitest";
import { type AgentEvent, maskEvents } from "../../../src/agent/events.ts";

const SECRET = "sk-very-secret";

function masked(...events: readonly AgentEvent[]): AgentEvent[] {
  const told: AgentEvent[] = [];
  const tell = maskEvents((event) => told.push(event), [SECRET]);
  for (const event of events) tell(event);
  return told;
}

const text = (piece: string): AgentEvent => ({ type: "text", text: piece });
const END: AgentEvent = { type: "turn_ended", outcome: "completed" };

test("a secret that a text says in pieces is said nowhere, and the rest of the text is (S75)", () => {
  const told = masked(text("it is sk-ve"), text("ry-sec"), text("ret, or sk-"), END);
  expect(told.flatMap((event) => (event.type === "text" ? event.text : [])).join("")).toBe(
    "it is [secret], or sk-",
  );
  expect(told.at(-1)).toEqual(END);
});

test("what waited of a text that is dropped is dropped with it", () => {
  expect(masked(text("half sk-"), { type: "text_dropped" }, text("anew"), END)).toEqual([
    text("half "),
    { type: "text_dropped" },
    text("anew"),
    END,
  ]);
});

test("no other event holds one", () => {
  const failed: AgentEvent = { type: "turn_ended", outcome: "failed", failure: `401 ${SECRET}` };
  expect(masked(failed)).toEqual([{ ...failed, failure: "401 [secret]" }]);
});
