import fc from "fast-check";
import { expect, it, onTestFinished, vi } from "vitest";
import { drawSeed } from "../../../support/random/draw-seed.ts";
import { SEED } from "../../../support/random/seed.ts";

/** Returns the seed of a run with this environment, and its output. */
function drawn(env: Record<string, string>) {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  drawSeed(env);
  return { seed: env.FUZZ_SEED, printed: log.mock.calls.flat() };
}

it("drawSeed › draws no seed in the gate", () => {
  expect(drawn({})).toEqual({ seed: undefined, printed: [] });
});

it("drawSeed › draws a seed for a search, and prints how to repeat it", () => {
  const { seed, printed } = drawn({ FUZZ: "random" });
  expect(Number.isSafeInteger(Number(seed ?? "none"))).toBe(true);
  expect(printed).toEqual([`FUZZ_SEED=${seed}`]);
});

it("drawSeed › keeps a given seed", () => {
  expect(drawn({ FUZZ: "random", FUZZ_SEED: "7" })).toEqual({ seed: "7", printed: [] });
});

it("properties › check the same cases in each run, unless FUZZ_SEED names another seed", () => {
  expect(SEED).toBe(Number(process.env.FUZZ_SEED ?? 1));
  expect(fc.readConfigureGlobal().seed).toBe(SEED);
});
