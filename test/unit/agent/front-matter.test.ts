import { expect, test } from "vitest";
import { readDocument, textOfField } from "../../../src/agent/prompts/front-matter.ts";

test.each([
  [
    "fields and a text",
    "---\nname: x\ntools: [A, B]\n---\n\nDo it.\n",
    { name: "x", tools: ["A", "B"] },
    "Do it.",
  ],
  [
    "Windows' line ends, and a byte order mark",
    "\uFEFF---\r\nname: x\r\n---\r\nDo it.",
    { name: "x" },
    "Do it.",
  ],
  ["no front matter", "# Title\n\n---\n\nText", {}, "# Title\n\n---\n\nText"],
  ["an empty one", "---\n---\nText", {}, "Text"],
  ["nothing behind it", "---\nname: x\n---", { name: "x" }, ""],
])("%s", (_, text, matter, body) => {
  expect(readDocument(text)).toEqual({ matter, body });
});

test.each([
  ["a list", "---\n- a\n---\n"],
  ["what is no YAML", "---\nname: [x\n---\n"],
  ["aliases, which could stand for more than memory holds", "---\na: &a [x]\nb: *a\n---\n"],
  ["more than names need", `---\na: ${"x".repeat(20_000)}\n---\n`],
])("%s is refused with a word", (_, text) => {
  expect(() => readDocument(text)).toThrow(/./);
});

test("a field with one text is that text, and other things are none", () => {
  expect([textOfField(" a "), textOfField(" "), textOfField(3)]).toEqual(["a", undefined, undefined]);
});
