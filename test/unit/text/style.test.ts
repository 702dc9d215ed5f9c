import { expect, test } from "vitest";
import { memberColor, styled, styler } from "../../../src/text/style.ts";

test("styled sets all styles in one sequence and ends each of them", () => {
  expect(styled("a", ["bold", 33])).toBe("\x1b[1;38;5;33ma\x1b[22;39m");
  expect(styled("a", [undefined, 33])).toBe("\x1b[38;5;33ma\x1b[39m");
  expect(styled("a", [undefined])).toBe("a");
});

test("styler keeps the outer style around a nested one", () => {
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
