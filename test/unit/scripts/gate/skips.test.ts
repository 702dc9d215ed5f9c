import { expect, it } from "vitest";
import { skipFlaws } from "../../../../scripts/gate/skips.ts";

it("skipFlaws › names each skipped test that is not on the list", () => {
  const allowed = [{ test: "a > mac", reason: "macOS only" }];
  expect(skipFlaws(["a > mac", "b > shell"], allowed)).toEqual([
    "not in test/skips.json, but skipped: b > shell",
  ]);
  expect(skipFlaws([], allowed)).toEqual([]);
});
