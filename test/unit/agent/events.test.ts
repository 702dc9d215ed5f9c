import { expect, test } from "vitest";
import { type AgentEvent, maskEvents } from "../../../src/agent/events.ts";

const SECRET = "sk-very-secret";

function masked(...events: readonly AgentEvent[]): AgentEvent[] {
  return maskedWith([SECRET], ...events);
}

function maskedWith(secrets: readonly string[], ...events: readonly AgentEvent[]): AgentEvent[] {
  const seen: AgentEvent[] = [];
  const push = maskEvents((event) => seen.push(event), secrets);
  for (const event of events) push(event);
  return seen;
}

const text = (piece: string): AgentEvent => ({ type: "text", text: piece });
const END: AgentEvent = { type: "turn_ended", outcome: "completed" };

test("maskEvents hides a secret that a text streams in pieces, and keeps the rest of the text (S75)", () => {
  const seen = masked(text("it is sk-ve"), text("ry-sec"), text("ret, or sk-"), END);
  expect(seen.flatMap((event) => (event.type === "text" ? event.text : [])).join("")).toBe(
    "it is [secret], or sk-",
  );
  expect(seen.at(-1)).toEqual(END);
});

test("maskEvents drops a held-back piece together with its dropped text", () => {
  expect(masked(text("half sk-"), { type: "text_dropped" }, text("anew"), END)).toEqual([
    text("half "),
    { type: "text_dropped" },
    text("anew"),
    END,
  ]);
});

test.each([[[]], [[SECRET]]])(
  "maskEvents joins a character that a text streams in two pieces (secrets: %j)",
  (secrets) => {
    const seen = maskedWith(secrets, text("up \ud83d"), text("\ude80, \ud83d"), END);
    expect(seen).toEqual([text("up "), text("🚀, "), text("\ud83d"), END]);
  },
);

test("maskEvents hides a secret in other events", () => {
  const failed: AgentEvent = { type: "turn_ended", outcome: "failed", failure: `401 ${SECRET}` };
  expect(masked(failed)).toEqual([{ ...failed, failure: "401 [secret]" }]);
});
