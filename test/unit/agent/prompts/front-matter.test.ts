import { expect, test } from "vitest";
import { readDocument, textOfField } from "../../../../src/agent/prompts/front-matter.ts";

test.each([
  [
    "fields and a text",
    "---\nname: x\ntools: [A, B]\n---\n\nDo it.\n",
    { name: "x", tools: ["A", "B"] },
    "Do it.",
  ],
  [
    "Windows line endings and a byte order mark",
    "\uFEFF---\r\nname: x\r\n---\r\nDo it.",
    { name: "x" },
    "Do it.",
  ],
  ["no front matter", "# Title\n\n---\n\nText", {}, "# Title\n\n---\n\nText"],
  ["empty front matter", "---\n---\nText", {}, "Text"],
  ["empty front matter before a rule", "---\n---\nText\n\n---\n", {}, "Text\n\n---"],
  [
    "fields after a line that ends with dashes",
    "---\nname: x\n# --- rights ---\ndisallowedTools: [Bash]\n---\nDo it.",
    { name: "x", disallowedTools: ["Bash"] },
    "Do it.",
  ],
  ["no text after it", "---\nname: x\n---", { name: "x" }, ""],
])("readDocument reads %s", (_, text, matter, body) => {
  expect(readDocument(text)).toEqual({ matter, body });
});

test.each([
  ["a list", "---\n- a\n---\n"],
  ["invalid YAML", "---\nname: [x\n---\n"],
  ["aliases, which could expand beyond the available memory", "---\na: &a [x]\nb: *a\n---\n"],
  ["very long front matter", `---\na: ${"x".repeat(20_000)}\n---\n`],
])("readDocument rejects %s", (_, text) => {
  expect(() => readDocument(text)).toThrow(/./);
});

test("textOfField returns a trimmed text, and undefined for other values", () => {
  expect([textOfField(" a "), textOfField(" "), textOfField(3)]).toEqual(["a", undefined, undefined]);
});
