import { expect, it } from "vitest";
import { skipFlaws } from "../../../../scripts/gate/skips.ts";

it("skipFlaws › names each skipped test that is not on the list", () => {
  const allowed = [{ test: "a > mac", reason: "macOS only" }];
  const all = new Set(["a > mac", "b > shell"]);
  expect(skipFlaws(["a > mac", "b > shell"], allowed, all)).toEqual([
    "not in test/skips.json, but skipped: b > shell",
  ]);
  expect(skipFlaws([], allowed, all)).toEqual([]);
});

it("skipFlaws › names each entry that is not a test", () => {
  const allowed = [{ test: "a > mac", reason: "macOS only" }];
  expect(skipFlaws([], allowed, new Set(["a > macOS"]))).toEqual(["skips: no test has this name: a > mac"]);
});
