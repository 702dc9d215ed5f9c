import { describe, expect, test } from "vitest";
import { displayWidth } from "../../../../src/text/cell-width.ts";
import { changeLines } from "../../../../src/text/diff/change-lines.ts";
import { diffRows } from "../../../../src/text/diff/diff-rows.ts";
import { shortestChange } from "../../../../src/text/diff/shortest-change.ts";
import { TONE } from "../../../../src/text/style.ts";
import { growth, MAX_GROWTH } from "../../../support/timing/growth.ts";

const plain = { width: 40, plain: true };
const RED = `38;5;${TONE.removed}`;
const GREEN = `38;5;${TONE.added}`;

const BEFORE = ["import x;", "", "const now = Date.now();", "\treturn now;", "end"].join("\n");
const EDIT = changeLines(BEFORE, BEFORE.replace("Date.now()", "clock.now()"), { search: shortestChange });

describe("diffRows", () => {
  test("shows line numbers and signs without colours, and tabs as spaces", () => {
    expect(diffRows(EDIT, plain)).toEqual([
      "1   import x;",
      "2",
      "3 - const now = Date.now();",
      "3 + const now = clock.now();",
      "4       return now;",
      "5   end",
      "  \\ no newline at end of file",
    ]);
  });

  test("colours changed lines, and inverts the colours of changed words only", () => {
    const rows = diffRows(EDIT, { width: 40, plain: false });
    expect(rows[2]).toContain(`\x1b[${RED}m- const now = \x1b[39m`);
    expect(rows[2]).toContain(`\x1b[${RED};7mDate\x1b[39;27m`);
    expect(rows[3]).toContain(`\x1b[${GREEN};7mclock\x1b[39;27m\x1b[${GREEN}m.now();`);
    expect(rows.join("").match(/;7m/g)).toHaveLength(2);
  });

  test("does not mark words of lines that share little", () => {
    const rows = diffRows(["-one two three", "+something else entirely"], { width: 40, plain: false });
    expect(rows.join("")).not.toContain(";7m");
  });

  test("distinguishes a changed tab from spaces", () => {
    expect(diffRows(["-\treturn now;", "+    return now;"], plain)).toEqual([
      "- →   return now;",
      "+     return now;",
    ]);
  });

  test("puts a sign between hunks, and only ASCII signs if requested", () => {
    const lines = ["@@ -1,1 +1,1 @@", `+${"x".repeat(20)}`, "@@ -100,1 +100,1 @@", "-b"];
    expect(diffRows(lines, { width: 24, plain: true })).toEqual([
      `  1 + ${"x".repeat(18)}`,
      "    ↳ xx",
      "  ⋮",
      "100 - b",
    ]);
    expect(diffRows(lines, { width: 24, plain: true, ascii: true }).join("")).toMatch(/^[\x20-\x7e]*$/);
  });

  test.each([30, 20, 8])("wraps all of a long line into rows of at most %i cells", (width) => {
    const text = `call("${"word ".repeat(20)}", 日本語のテキスト)`;
    const rows = diffRows(["@@ -998,1 +998,1 @@", `+${text}`], { width, plain: true });
    for (const row of rows) expect(displayWidth(row)).toBeLessThanOrEqual(width);
    const shown = rows.map((row) => row.replace(/^(998 )?\s*[+↳] ?/, "")).join("");
    expect(shown.replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
  });

  test("says how many lines are left out, including the lines that its input leaves out", () => {
    const lines = Array.from({ length: 20 }, (_, i) => `+line ${i}`);
    expect(diffRows(lines, { ...plain, limit: 3 })).toEqual([
      "+ line 0",
      "+ line 1",
      "+ line 2",
      "… 17 more lines",
    ]);
    expect(diffRows([...lines, "… 100 more lines"], { ...plain, limit: 3 }).at(-1)).toBe("… 117 more lines");
    expect(diffRows(lines.slice(0, 4), { ...plain, limit: 3 })).toHaveLength(4);
  });

  test.each<[string, string, string]>([
    ["an escape sequence", "+a\x1b[2Jb", "+ a\\u001b[2Jb"],
    ["a mark that changes the writing direction", "-a\u202eb", "- a\\u202eb"],
    ["a zero-width character", " r\u200bm", "  r\\u200bm"],
    ["a carriage return", "$ ls\rx", "$ ls\\u000dx"],
    ["a line end, which no line has", "+a\n-b", "+ a\\u000a-b"],
  ])("escapes %s", (_what, line, row) => {
    expect(diffRows([line], plain)).toEqual([row]);
    expect(
      diffRows([line], { width: 40, plain: false })
        .join("")
        .replace(/\x1b\[[\d;]*m/g, ""),
    ).toBe(row);
  });

  test.each([
    [
      "changed lines one by one",
      (line: string, i: number) => [`-  ${line}`, `+  ${line.replace("a", "b")}${i}`],
    ],
    ["removed lines", (line: string) => [`-  ${line}`]],
  ])("does not take quadratic time for many %s", (_, change) => {
    const lines = (length: number) =>
      Array.from({ length }, (_, i) => change(`const value = a(${i});`, i)).flat();
    const show = (some: readonly string[]) => diffRows(some, { width: 80, plain: false });
    expect(show(lines(5_000))).toHaveLength(lines(5_000).length);
    expect(growth(1_250, lines, show)).toBeLessThan(MAX_GROWTH);
  });
});
