import { describe, expect, test } from "vitest";
import { paletteColor } from "../../../scripts/lib/ansi-screen.mjs";
import { SYNTAX } from "../../../src/text/markdown/highlight.ts";
import { memberColor, styled, styler, TONE } from "../../../src/text/style.ts";
import { contrast, MIN_CONTRAST } from "../../support/assertions/readable-colors.ts";

/** Backgrounds of terminals: black, VS Code, One Dark, Solarized Dark and Light, white. */
const BACKGROUNDS = ["#000000", "#1e1e1e", "#282c34", "#002b36", "#fdf6e3", "#ffffff"];
const MEMBERS = ["blue", "green", "yellow", "purple", "orange", "pink", "cyan", "red"];

test("styled sets all styles in one sequence and ends each of them", () => {
  expect(styled("a", ["bold", 33])).toBe("\x1b[1;38;5;33ma\x1b[22;39m");
  expect(styled("a", [undefined, 33])).toBe("\x1b[38;5;33ma\x1b[39m");
  expect(styled("a", ["dim", "italic", "underline"])).toBe("\x1b[2;3;4ma\x1b[22;23;24m");
  expect(styled("a", ["reverse", "strike"])).toBe("\x1b[7;9ma\x1b[27;29m");
  expect(styled("a", [undefined])).toBe("a");
});

test("styler keeps the outer style around a nested style", () => {
  const style = styler(false);
  expect(style("bold", `a${style(33, "b")}c`)).toBe("\x1b[1ma\x1b[38;5;33mb\x1b[39mc\x1b[22m");
  expect(styler(true)("bold", "a")).toBe("a");
});

test("memberColor returns no index for the lead and for an unknown colour", () => {
  expect(memberColor("blue")).toBe(33);
  expect([memberColor(undefined), memberColor(null), memberColor("toString")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

describe("colours", () => {
  const named = (colors: Readonly<Record<string, number>>): [string, number][] => Object.entries(colors);
  const members = MEMBERS.map((name): [string, number] => [name, memberColor(name) ?? 0]);

  test.each([...named(TONE), ...members, ...named(SYNTAX)])(
    "%s is readable on dark and light backgrounds",
    (_, index) => {
      // Themes of terminals do not change the colours from 16 up.
      expect(index).toBeGreaterThanOrEqual(16);
      const contrasts = BACKGROUNDS.map((background) => contrast(String(paletteColor(index)), background));
      expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(MIN_CONTRAST);
    },
  );

  test("members have different colours", () => {
    expect(new Set(members.map(([, index]) => index)).size).toBe(MEMBERS.length);
  });
});
