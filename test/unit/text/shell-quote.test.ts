import { describe, expect, it } from "vitest";
import { operand, optionWords, shellWord } from "../../../src/text/shell-quote.ts";

describe("names in a command for copying", () => {
  it.each([
    ["reviewer", "reviewer"],
    ["dev@review", "dev@review"],
    ["$(touch pwned)", "'$(touch pwned)'"],
    ["it's", "'it'\\''s'"],
    ["=ls", "'=ls'"],
    ["檢查員", "'檢查員'"],
    ["", "''"],
  ])("shellWord and operand quote %j as one word", (name, word) => {
    expect(shellWord(name)).toBe(word);
    expect(operand(name)).toBe(word);
  });

  it("operand and optionWords keep a leading dash from becoming an option", () => {
    expect(operand("-x")).toBe("-- -x");
    expect(operand("--force; ls")).toBe("-- '--force; ls'");
    expect(optionWords("--team", "-x")).toBe("--team=-x");
    expect(optionWords("--team", "review")).toBe("--team review");
  });
});
