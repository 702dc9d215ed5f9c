import { describe, expect, test } from "vitest";
import { applySgr, paletteColor, parseScreen } from "../../../scripts/lib/ansi-screen.mjs";

describe("styles", () => {
  test.each([
    ["1;38;5;33", { bold: true, fg: "#0087ff" }],
    ["38;2;1;2;255;4", { fg: "#0102ff", underline: true }],
    ["31;42;7", { fg: "#ff7b72", bg: "#3fb950", inverse: true }],
    ["97;100", { fg: "#f0f6fc", bg: "#6e7681" }],
    ["2;0;3", { italic: true }],
    ["", {}],
  ])("applySgr › reads %j", (parameters, style) => {
    expect(applySgr({}, parameters)).toEqual(style);
  });

  test("applySgr › resets each attribute", () => {
    const all = applySgr({}, "1;2;3;4;31;41");
    expect(applySgr(all, "22;23;24;39;49")).toEqual({});
  });

  test("applySgr › takes only the sixteen named colours from a theme", () => {
    expect(applySgr({}, "31;102", "light")).toEqual({ fg: "#cf222e", bg: "#1a7f37" });
    expect(applySgr({}, "38;5;1;48;5;33", "light")).toEqual({ fg: "#cf222e", bg: "#0087ff" });
  });

  test("paletteColor › equals the palette of xterm", () => {
    expect([paletteColor(16), paletteColor(208), paletteColor(231), paletteColor(245)]).toEqual([
      "#000000",
      "#ff8700",
      "#ffffff",
      "#8a8a8a",
    ]);
  });
});

test("parseScreen › splits text into cells, attaches combining marks and keeps a style across rows", () => {
  const rows = parseScreen("\x1b[1m檢e\u0301\nx\x1b[0my\n");
  expect(rows.map((row) => row.map(({ char, width, style }) => [char, width, style.bold === true]))).toEqual([
    [
      ["檢", 2, true],
      ["e\u0301", 1, true],
    ],
    [
      ["x", 1, true],
      ["y", 1, false],
    ],
  ]);
});

test("parseScreen › drops sequences other than styles", () => {
  const text = "a\x1b]8;;http://x\x1b\\b\x1b]8;;\x07c\x1b(Bd\x0ee";
  expect(
    parseScreen(text)[0]
      ?.map(({ char }) => char)
      .join(""),
  ).toBe("abcde");
});
