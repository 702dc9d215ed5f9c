import { describe, expect, it } from "vitest";
import { visibleRows } from "../../../src/cli/watch-screen.ts";

const LINES = ["one", "two", "three", "four", "five"];
const SIZE = { from: 0, width: 50, height: 4, plain: true };

describe("visibleRows", () => {
  it("returns all rows that fit, cut to the width", () => {
    expect(visibleRows(LINES, { ...SIZE, from: 3, width: 4, height: 5 })).toEqual({
      rows: ["one", "two", "thr…", "four", "five"],
      from: 0,
    });
  });

  it.each([
    [0, 0, ["one", "two", "three", "… 2 below · q closes · j k scroll"]],
    [1, 1, ["two", "three", "four", "… 1 above · 1 below · q closes · j k scroll"]],
    [99, 2, ["three", "four", "five", "… 2 above · q closes · j k scroll"]],
    [-9, 0, ["one", "two", "three", "… 2 below · q closes · j k scroll"]],
  ])("shows the rows from row %i, and counts the hidden rows", (from, first, rows) => {
    expect(visibleRows(LINES, { ...SIZE, from })).toEqual({ rows, from: first });
  });

  it("shows a row on the smallest screen", () => {
    expect(visibleRows(LINES, { ...SIZE, from: 2, height: 1 })).toEqual({ rows: ["three"], from: 2 });
  });
});
