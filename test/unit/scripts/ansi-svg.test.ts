import { describe, expect, test } from "vitest";
import { applySgr, paletteColor, parseScreen, screenToSvg } from "../../../scripts/lib/ansi-svg.mjs";

const svg = (text: string): string => screenToSvg(text, { columns: 20, rows: 3 });

describe("styles", () => {
  test.each([
    ["1;38;5;33", { bold: true, fg: "#0087ff" }],
    ["38;2;1;2;255;4", { fg: "#0102ff", underline: true }],
    ["31;42;7", { fg: "#ff7b72", bg: "#3fb950", inverse: true }],
    ["97;100", { fg: "#f0f6fc", bg: "#6e7681" }],
    ["2;0;3", { italic: true }],
    ["", {}],
  ])("%s", (parameters, style) => {
    expect(applySgr({}, parameters)).toEqual(style);
  });

  test("are taken back one by one", () => {
    const all = applySgr({}, "1;2;3;4;31;41");
    expect(applySgr(all, "22;23;24;39;49")).toEqual({});
  });

  test("the palette is xterm's", () => {
    expect([paletteColor(16), paletteColor(208), paletteColor(231), paletteColor(245)]).toEqual([
      "#000000",
      "#ff8700",
      "#ffffff",
      "#8a8a8a",
    ]);
  });
});

test("a screen is cells: wide ones take two, marks stand on the one before, a style lasts into the next row", () => {
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

test("sequences that are no style leave nothing behind", () => {
  const text = "a\x1b]8;;http://x\x1b\\b\x1b]8;;\x07c\x1b(Bd\x0ee";
  expect(
    parseScreen(text)[0]
      ?.map(({ char }) => char)
      .join(""),
  ).toBe("abcde");
});

describe("the picture", () => {
  test("has a piece of text in exactly its cells", () => {
    expect(svg("  hi there")).toContain('<text x="16.8" y="13" textLength="67.2">hi there</text>');
  });

  test("centres what is not ASCII in its own cells", () => {
    expect(svg("檢")).toContain('<text x="8.4" y="13" text-anchor="middle">檢</text>');
  });

  test("draws borders as lines that meet", () => {
    expect(svg("│\n│")).toContain('d="M4.2 9l0 -9M4.2 9l0 9"');
    expect(svg("━")).toContain('stroke-width="2.6"');
  });

  test("swaps the two colours where they are inverse", () => {
    const text = svg("\x1b[7;38;5;33mx");
    expect(text).toContain('height="18" fill="#0087ff"/>');
    expect(text).toContain('fill="#0d1117">x</text>');
  });

  test("has one ground for all cells of a colour, so that no seam shows", () => {
    expect(svg("\x1b[48;5;71ma b\x1b[49m \x1b[48;5;71mc").match(/<rect [^>]*fill="#5faf5f"/g)).toHaveLength(
      2,
    );
  });

  test("takes foreign text as text", () => {
    expect(svg("<b>&\"'")).toContain("&#60;b&#62;&#38;&#34;&#39;</text>");
  });

  test("is as large as the window, title bar included", () => {
    expect(screenToSvg("", { columns: 10, rows: 2, title: "a <team>" })).toMatch(
      /width="112" height="98".*>a &#60;team&#62;<\/text>/s,
    );
  });
});
