import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundedLines } from "../../../../src/text/diff/bounded-lines.ts";
import { changeLines, type LineSearch, NO_NEWLINE } from "../../../../src/text/diff/change-lines.ts";
import { isShortened } from "../../../../src/text/diff/left-out.ts";
import { shortestChange } from "../../../../src/text/diff/shortest-change.ts";
import { growth, MAX_GROWTH } from "../../../support/timing/growth.ts";

const search: LineSearch = (before, after) => shortestChange(before, after, Number.POSITIVE_INFINITY);
const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `line ${i + 1}`);
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

describe("changeLines", () => {
  test("gives hunks with line numbers and three lines of context", () => {
    const before = numbered(30);
    const after = [...before];
    after[9] = "changed";
    after.splice(24, 2, "new");
    expect(changeLines(text(before), text(after), { search })).toEqual([
      "@@ -7,7 +7,7 @@",
      ...[" line 7", " line 8", " line 9", "-line 10", "+changed", " line 11", " line 12", " line 13"],
      "@@ -22,8 +22,7 @@",
      ...[" line 22", " line 23", " line 24", "-line 25", "-line 26", "+new"],
      ...[" line 27", " line 28", " line 29"],
    ]);
  });

  test.each<[string, string, string, readonly string[]]>([
    ["equal texts", "a\n", "a\n", []],
    ["a new file", "", "a\nb\n", ["@@ -0,0 +1,2 @@", "+a", "+b"]],
    ["an emptied file", "a\n", "", ["@@ -1,1 +0,0 @@", "-a"]],
    ["a lost final newline", "a\nb\n", "a\nb", ["@@ -1,2 +1,2 @@", " a", "-b", "+b", NO_NEWLINE]],
    ["an inserted equal line", "a\na\n", "a\na\na\n", ["@@ -1,2 +1,3 @@", " a", " a", "+a"]],
    ["Windows line ends in both", "a\r\nb\r\n", "a\r\nc\r\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+c"]],
    ["changed line ends", "a\nb\n", "a\r\nb\n", ["@@ -1,2 +1,2 @@", "-a", "+a\\u000d", " b"]],
    ["a hidden character", "pay(a)\n", "pay(a\u202e)\n", ["@@ -1,1 +1,1 @@", "-pay(a)", "+pay(a\\u202e)"]],
  ])("gives %s", (_what, before, after, lines) => {
    expect(changeLines(before, after, { search })).toEqual(lines);
  });

  test("gives the change of a part of a file without line numbers and without the end of a file", () => {
    expect(changeLines("a", "a\nb", { isPart: true, search })).toEqual([" a", "+b"]);
    expect(changeLines("x", "x\n", { isPart: true, search })).toEqual([" x", "+"]);
    expect(changeLines("", "new", { isPart: true })).toEqual(["+new"]);
  });

  test("replaces whole blocks of very different large texts instead of searching for long", () => {
    const texts = (length: number): string[] =>
      [7, 5].map((step) => text(Array.from({ length }, (_, i) => `${i % step} ${"x".repeat(80)}`)));
    const change = ([before = "", after = ""]: readonly string[]) => changeLines(before, after, { search });
    expect(growth(7_500, texts, change)).toBeLessThan(MAX_GROWTH);
    const removed = change(texts(60_000)).filter((line) => line.startsWith("-"));
    expect(removed.length).toBeGreaterThan(50_000);
  });

  test("applied to the old text gives the new text", () => {
    const line = fc.constantFrom("a", "b", "c", "", "  d");
    const file = fc.tuple(fc.array(line, { maxLength: 30 }), fc.boolean());
    const textOf = ([lines, ends]: [string[], boolean]): string => lines.join("\n") + (ends ? "\n" : "");
    fc.assert(
      fc.property(file, file, fc.boolean(), (one, other, searches) => {
        const [before, after] = [textOf(one), textOf(other)];
        const lines = changeLines(before, after, searches ? { search } : {});
        expect(applied(before, lines)).toBe(after);
      }),
    );
  });
});

/** Applies the hunks of a unified diff. @throws Error if an unchanged or removed line is not in the text */
function applied(before: string, lines: readonly string[]): string {
  const old = before === "" ? [] : before.split(/(?<=\n)/);
  const result: string[] = [];
  let at = 0;
  const take = (whole: string): void => {
    if (old[at] !== whole) throw new Error(`line ${at + 1} is not ${whole}`);
    at += 1;
  };
  for (const [i, line] of lines.entries()) {
    const [, from, count] = /^@@ -(\d+),(\d+) /.exec(line) ?? [];
    if (line === NO_NEWLINE) continue;
    if (from !== undefined) {
      const start = Number(from) - (count === "0" ? 0 : 1);
      result.push(...old.slice(at, start));
      at = start;
      continue;
    }
    const whole = line.slice(1) + (lines[i + 1] === NO_NEWLINE ? "" : "\n");
    if (!line.startsWith("+")) take(whole);
    if (!line.startsWith("-")) result.push(whole);
  }
  return [...result, ...old.slice(at)].join("");
}

describe("boundedLines", () => {
  test("says how many lines are left out", () => {
    const all = numbered(1_000).map((line) => `+${line}`);
    const kept = boundedLines(all);
    expect([kept.length, kept.at(-1)]).toEqual([401, "… 600 more lines"]);
    expect(boundedLines(all.slice(0, 401))).toEqual(all.slice(0, 401));
    expect([isShortened(kept), isShortened(all)]).toEqual([true, false]);
  });

  test("says how much of a long line is left out", () => {
    expect(boundedLines([`+${"x".repeat(5_000)}`, "+b"])).toEqual([
      `+${"x".repeat(3_999)}`,
      "… 1001 more characters",
      "+b",
    ]);
    const many = boundedLines(Array.from({ length: 100 }, () => `+${"x".repeat(3_000)}`));
    expect(many.join("").length).toBeLessThan(65_000);
    expect(many.at(-1)).toBe("… 79 more lines");
  });

  test("does not take a line of a file for such a mark", () => {
    expect(isShortened(changeLines("", "… 5 more lines\n"))).toBe(false);
  });
});
