import { describe, expect, test } from "vitest";
import {
  applySgr,
  paletteColor,
  parseScreen,
  screensToSvg,
  screenToSvg,
} from "../../../scripts/lib/ansi-svg.mjs";

const svg = (text: string): string => screenToSvg(text, { columns: 20, rows: 3 });

describe("styles", () => {
  test.each([
    ["1;38;5;33", { bold: true, fg: "#0087ff" }],
    ["38;2;1;2;255;4", { fg: "#0102ff", underline: true }],
    ["31;42;7", { fg: "#ff7b72", bg: "#3fb950", inverse: true }],
    ["97;100", { fg: "#f0f6fc", bg: "#6e7681" }],
    ["2;0;3", { italic: true }],
    ["", {}],
  ])("applySgr reads %j", (parameters, style) => {
    expect(applySgr({}, parameters)).toEqual(style);
  });

  test("applySgr resets each attribute", () => {
    const all = applySgr({}, "1;2;3;4;31;41");
    expect(applySgr(all, "22;23;24;39;49")).toEqual({});
  });

  test("paletteColor equals the palette of xterm", () => {
    expect([paletteColor(16), paletteColor(208), paletteColor(231), paletteColor(245)]).toEqual([
      "#000000",
      "#ff8700",
      "#ffffff",
      "#8a8a8a",
    ]);
  });
});

test("parseScreen splits text into cells, attaches combining marks and keeps a style across rows", () => {
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

test("parseScreen drops sequences other than styles", () => {
  const text = "a\x1b]8;;http://x\x1b\\b\x1b]8;;\x07c\x1b(Bd\x0ee";
  expect(
    parseScreen(text)[0]
      ?.map(({ char }) => char)
      .join(""),
  ).toBe("abcde");
});

describe("screenToSvg", () => {
  test("places text exactly in its cells", () => {
    expect(svg("  hi there")).toContain('<text x="16.8" y="13" textLength="67.2">hi there</text>');
  });

  test("centres a wide character in its cells", () => {
    expect(svg("檢")).toContain('<text x="8.4" y="13" text-anchor="middle">檢</text>');
  });

  test("draws borders as lines that meet", () => {
    expect(svg("│\n│")).toContain('d="M4.2 9l0 -9M4.2 9l0 9"');
    expect(svg("━")).toContain('stroke-width="2.6"');
  });

  test("swaps foreground and background for inverse text", () => {
    const text = svg("\x1b[7;38;5;33mx");
    expect(text).toContain('height="18" fill="#0087ff"/>');
    expect(text).toContain('fill="#0d1117">x</text>');
  });

  test("draws one background for adjacent cells of a colour", () => {
    expect(svg("\x1b[48;5;71ma b\x1b[49m \x1b[48;5;71mc").match(/<rect [^>]*fill="#5faf5f"/g)).toHaveLength(
      2,
    );
  });

  test("escapes markup in text", () => {
    expect(svg("<b>&\"'")).toContain("&#60;b&#62;&#38;&#34;&#39;</text>");
  });

  test("includes the title bar in the size", () => {
    expect(screenToSvg("", { columns: 10, rows: 2, title: "a <team>" })).toMatch(
      /width="112" height="98".*>a &#60;team&#62;<\/text>/s,
    );
  });
});

describe("screensToSvg", () => {
  const move = (...texts: string[]): string =>
    screensToSvg(
      texts.map((text) => ({ text, ms: 500 })),
      { columns: 10, rows: 2 },
    );

  test("draws a row once when it is the same on all screens", () => {
    const drawn = move("same\na", "same\nb");
    expect(drawn.match(/same/g)).toHaveLength(1);
    expect(drawn).not.toMatch(/<g [^>]*><animate[^>]*>[^\n]*same/);
  });

  test("shows each version of a row for its time, and the last one without animation", () => {
    const drawn = move("a", "b", "b");
    expect(drawn).toMatch(
      /<g visibility="hidden"><animate [^>]*dur="1500ms"[^>]*keyTimes="0;0.3333" values="visible;hidden"\/><text[^>]*>a</,
    );
    expect(drawn).toMatch(
      /<g visibility="visible"><animate [^>]*keyTimes="0;0.3333" values="hidden;visible"\/><text[^>]*>b</,
    );
  });
});
