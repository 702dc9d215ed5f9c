import { expect, test } from "vitest";
import { growth, MAX_GROWTH } from "../../../support/timing/growth.ts";

const same = (size: number): number => size;

/** Returns a clock for {@link growth}: work takes as many milliseconds as it returns. */
const measured = (work: () => unknown): number => Number(work());

test.each([
  ["linear", (size: number) => size, 8],
  ["quadratic", (size: number) => size * size, 64],
])("growth › returns how much longer %s work takes for 8 times the size", (_, work, expected) => {
  expect(growth(10, same, work, measured)).toBe(expected);
});

test("growth › uses the quickest of three measurements of each size", () => {
  const spent = { 10: [50, 10, 30], 80: [900, 700, 400] };
  const next = (size: number) => spent[size as 10 | 80].shift() ?? Number.NaN;
  expect(growth(10, same, next, measured)).toBe(40);
});

test("growth › stops at the first measurement of the large size within the limit", () => {
  const sizes: number[] = [];
  const work = (size: number) => {
    sizes.push(size);
    return size;
  };
  growth(10, same, work, measured);
  expect(sizes).toEqual([10, 10, 10, 80]);
});

test("growth › does not divide by a measurement that is too short", () => {
  expect(growth(10, same, (size) => (size === 10 ? 0 : 60), measured)).toBe(12);
});

// Cubic work is far beyond the limit: the speed of a processor may change by a factor between two measurements.
test("growth › exceeds its limit for cubic work, and not for linear work, in processor time", () => {
  const numbers = (length: number) => Array.from({ length }, (_, i) => i);
  expect(growth(160, numbers, countTriples)).toBeGreaterThan(MAX_GROWTH);
  expect(growth(50_000, numbers, (values) => new Set(values))).toBeLessThan(MAX_GROWTH);
});

function countTriples(values: readonly number[]): number {
  let triples = 0;
  for (const a of values)
    for (let b = a + 1; b < values.length; b += 1)
      for (let c = b + 1; c < values.length; c += 1) triples += 1;
  return triples;
}
