import { expect, it } from "vitest";
import type { ConversationMessage } from "../../../../src/agent/model/model.ts";
import { endsWithPlan } from "../../../../src/worker/turn/interrupted-turn.ts";

const called = (name: string): ConversationMessage => ({
  role: "assistant",
  content: [{ type: "tool_use", id: "1", name, input: {} }],
});
const answered = (isError: boolean): ConversationMessage => ({
  role: "user",
  content: [{ type: "tool_result", toolUseId: "1", content: "", isError }],
});
const text: ConversationMessage = { role: "assistant", content: [{ type: "text", text: "hm" }] };

it.each<[string, boolean, readonly ConversationMessage[]]>([
  ["a sent plan", true, [text, called("ExitPlanMode"), answered(false)]],
  ["a plan that was refused, or lost with its process", false, [called("ExitPlanMode"), answered(true)]],
  ["another call", false, [called("Read"), answered(false)]],
  ["a plan and text after it", false, [called("ExitPlanMode"), answered(false), text]],
  ["no message", false, []],
])("endsWithPlan › for a conversation that ends with %s, returns %j", (_what, waits, messages) => {
  expect(endsWithPlan(messages)).toBe(waits);
});
