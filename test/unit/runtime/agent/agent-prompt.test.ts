import { expect, test } from "vitest";
import { writesSection } from "../../../../src/runtime/agent/agent-prompt.ts";

test.each([
  [undefined, ""],
  [[], "You may not write any file: a call that would write one is denied."],
  [
    ["src/**", "*.md"],
    "You may write only files that match these patterns: src/**, *.md. A call that would write another file is denied.",
  ],
])("writesSection › tells an agent with the writes %j", (writes, text) => {
  expect(writesSection(writes)).toBe(text);
});
