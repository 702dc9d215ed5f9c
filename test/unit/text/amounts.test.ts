import { describe, expect, it } from "vitest";
import { dollarAmount, tokenAmount } from "../../../src/text/amounts.ts";

describe("tokenAmount", () => {
  it.each([
    ["1", 1],
    ["500000", 500_000],
    ["500k", 500_000],
    ["0.5K", 500],
    ["1.5M", 1_500_000],
    ["1.234567m", 1_234_567],
    ["2.01k", 2_010],
    ["1.0050M", 1_005_000],
    ["999999999999999", 999_999_999_999_999],
  ])("reads %s", (text, amount) => {
    expect(tokenAmount(text)).toBe(amount);
  });

  it.each([
    "",
    "0",
    "0k",
    "k",
    "1.5",
    "-1k",
    "+1k",
    "1e3",
    "1 k",
    "500kb",
    "1.0001k",
    "1.2345678M",
    "٥k",
    "9999999999M",
  ])("refuses %j", (text) => {
    expect(tokenAmount(text)).toBeUndefined();
  });
});

describe("dollarAmount", () => {
  it("reads dollars with cents, and refuses units, zero and signs", () => {
    expect(["2", "2.50", "0.000001"].map(dollarAmount)).toEqual([2, 2.5, 0.000001]);
    expect(["0", "2k", "-1", "$2", "1e3", ""].map(dollarAmount)).toEqual(Array(6).fill(undefined));
  });
});
