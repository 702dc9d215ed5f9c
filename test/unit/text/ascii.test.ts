import { expect, test } from "vitest";
import { asciiRow } from "../../../src/text/ascii.ts";
import { displayWidth } from "../../../src/text/cell-width.ts";

test.each([
  ["▌ ann", "| ann"],
  ["● Bash ls · 2 s · Esc interrupts", "* Bash ls - 2 s - Esc interrupts"],
  ["  ⎿ … 34 more lines", "  ` > 34 more lines"],
  ["\x1b[1m› “quoted”\x1b[22m\n", '\x1b[1m> "quoted"\x1b[22m\n'],
  ["Wörter 漢字", "W?rter ????"],
  ["e\u0301", "e"],
])("asciiRow › shows %j as %j", (row, shown) => {
  expect(asciiRow(row)).toBe(shown);
});

test("asciiRow › keeps every column in its place", () => {
  const row = "○◐◌▲✓✗✻↻│─é漢・";
  expect(asciiRow(row)).toHaveLength(displayWidth(row));
  expect(asciiRow(row)).toMatch(/^[\x20-\x7e]+$/);
});
