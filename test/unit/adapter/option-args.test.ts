import { expect, it } from "vitest";
import { knownAdapters } from "../../../src/adapter/adapters.ts";
import { optionArgs } from "../../../src/adapter/option-args.ts";

const args = (id: string, model?: string, effort?: string) => {
  const adapter = knownAdapters({}).get(id);
  if (adapter === undefined) throw new Error(id);
  return optionArgs({ adapter, model, effort });
};

it("optionArgs › returns the adapter's arguments for model and effort, and none without a value", () => {
  expect(args("gemini", "$& big")).toEqual(["-m", "$& big"]);
  expect(args("codex-acp", undefined, "high")).toEqual(["-c", 'model_reasoning_effort="high"']);
  expect(args("codex-acp", "m", "low")).toEqual(["-c", 'model_reasoning_effort="low"']);
  expect(args("gemini")).toEqual([]);
});
