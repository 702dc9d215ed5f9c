import { expect, test } from "vitest";
import { draftOf, endsAtCursor } from "../../../../src/adapter/native/draft.ts";
import { isKeyName } from "../../../../src/tmux/key-names.ts";

test.each<[string, number, string | undefined]>([
  ["", 0, undefined],
  ["› ", 2, undefined],
  ["│ > ", 4, undefined],
  ["❯ Ask anything", 2, undefined],
  ["bash-5.2# ", 10, undefined],
  [">>> ", 4, undefined],
  ["(gdb) ", 6, undefined],
  ["plan › ", 7, undefined],
  ["plan › half a line", 18, "half a line"],
  ["a plan › ", 9, "a plan ›"],
  ["› half a line", 13, "half a line"],
  ["half", 4, "half"],
  ["│ > hello", 9, "hello"],
  ["$ rm -rf x", 10, "$ rm -rf x"],
])("draftOf finds the text before the cursor in %j at %d", (row, x, draft) => {
  expect(draftOf({ rows: ["an older row", row], cursor: { x, y: 1 }, height: 2 })).toBe(draft);
});

test.each<[string, boolean]>([
  ["> ", false],
  ["  </message>", true],
  ["> the end of</message>", true],
  ["> my own", false],
])("endsAtCursor recognizes the end of the text that teams typed in %j", (row, isOwn) => {
  const screen = { rows: [row], cursor: { x: row.length, y: 0 }, height: 1 };
  expect(endsAtCursor(screen, "<message>\nthe end\nof\n</message>")).toBe(isOwn);
});

test("isKeyName knows the names of keys, and no text", () => {
  const names = ["Escape", "Enter", "C-c", "M-Enter", "C-M-Left", "S-Tab", "F12", "y", "1", "-", "/"];
  expect(names.filter((name) => !isKeyName(name))).toEqual([]);
  const texts = ["", "Escapee", "hello", ";", " ", "C-", "F13", "é", "\u001b", "-t", "C-;"];
  expect(texts.filter((text) => isKeyName(text))).toEqual([]);
});
