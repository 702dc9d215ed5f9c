import { describe, expect, test } from "vitest";
import { screensToSvg, screenToSvg } from "../../../scripts/lib/ansi-svg.mjs";

const svg = (text: string): string => screenToSvg(text, { columns: 20, rows: 3 });

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

  test("draws a light terminal in its colours", () => {
    const text = screenToSvg("a\x1b[31mred\x1b[39;7mb", { columns: 20, rows: 3, theme: "light" });
    expect(text).toContain('fill="#1f2328" xml:space');
    expect(text).toContain('fill="#ffffff" stroke');
    expect(text).toContain('fill="#cf222e">red</text>');
    expect(text).toContain('height="18" fill="#1f2328"/>');
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

  test("shows each version of a row for its time, or only the last version without animation", () => {
    const drawn = move("a", "b", "b");
    expect(drawn).toMatch(
      /<g visibility="hidden"><animate [^>]*dur="1500ms"[^>]*keyTimes="0;0.3333" values="visible;hidden"\/><text[^>]*>a</,
    );
    expect(drawn).toMatch(
      /<g visibility="visible"><animate [^>]*keyTimes="0;0.3333" values="hidden;visible"\/><text[^>]*>b</,
    );
  });
});
