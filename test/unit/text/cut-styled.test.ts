import { expect, test } from "vitest";
import { cutStyled, wrapStyled } from "../../../src/text/cut-styled.ts";

test("cutStyled › does not count styles and links, and ends all of them", () => {
  const link = "\x1b]8;;https://a.example\x1b\\";
  const row = `a \x1b[1m${link}bcd\x1b]8;;\x1b\\\x1b[22m e`;
  expect(cutStyled(row, 7)).toBe(row);
  expect(cutStyled(row, 4)).toBe(`a \x1b[1m${link}b…\x1b]8;;\x1b\\\x1b[22m`);
});

test("wrapStyled › breaks a row at spaces, does not count styles and links, and keeps a row that fits", () => {
  const link = "\x1b]8;;https://a.example\x1b\\";
  const row = `  \x1b[1mann\x1b[22m: landed ${link}two\x1b]8;;\x1b\\ commits  on main`;
  expect(wrapStyled(row, 40)).toEqual([row]);
  expect(wrapStyled(row, 16)).toEqual([
    "  \x1b[1mann\x1b[22m: landed",
    `${link}two\x1b]8;;\x1b\\ commits  on`,
    "main",
  ]);
  expect(wrapStyled("a-word-that-is-too-long x", 6)).toEqual(["a-word-that-is-too-long", "x"]);
});
