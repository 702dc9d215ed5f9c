import { expect, test } from "vitest";
import { cutStyled } from "../../../src/text/cut-styled.ts";

test("cutStyled counts no styles and links, and ends all of them", () => {
  const link = "\x1b]8;;https://a.example\x1b\\";
  const row = `a \x1b[1m${link}bcd\x1b]8;;\x1b\\\x1b[22m e`;
  expect(cutStyled(row, 7)).toBe(row);
  expect(cutStyled(row, 4)).toBe(`a \x1b[1m${link}b…\x1b]8;;\x1b\\\x1b[22m`);
});
