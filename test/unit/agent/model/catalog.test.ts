import { describe, expect, test } from "vitest";
import { costOf, modelFacts } from "../../../../src/agent/model/catalog.ts";
import { MODEL_NAMES, namesOfModel } from "../../../../src/agent/model/model-names.ts";
import { NO_TOKENS } from "../../../../src/schema/tokens.ts";

const MILLION = 1_000_000;
const EACH = { input: MILLION, output: MILLION, cacheRead: MILLION, cacheWrite: MILLION };

describe("costOf (S36)", () => {
  test("counts each kind of token at its own rate", () => {
    expect(costOf(modelFacts("claude-sonnet-5-5"), EACH)).toBeCloseTo(2 + 10 + 0.1 + 2.5);
    expect(costOf(modelFacts("claude-opus-4-8"), { ...NO_TOKENS, cacheRead: 2 * MILLION })).toBeCloseTo(1);
  });

  test("applies the rate for long prompts to the whole prompt", () => {
    const haiku = modelFacts("claude-haiku-5-5");
    const short = { ...NO_TOKENS, input: 60_000, cacheRead: 40_000, output: 1_000 };
    expect(costOf(haiku, short)).toBeCloseTo((60_000 * 0.1 + 40_000 * 0.01 + 1_000 * 0.5) / MILLION);
    const long = { ...short, cacheRead: 40_001 };
    expect(costOf(haiku, long)).toBeCloseTo((60_000 * 0.5 + 40_001 * 0.05 + 1_000 * 2.5) / MILLION);
  });

  test("is undefined for an unknown model", () => {
    expect(costOf(modelFacts("my/model"), EACH)).toBeUndefined();
    expect(costOf(modelFacts("toString"), EACH)).toBeUndefined();
    // Same family, but another model.
    expect(costOf(modelFacts("claude-sonnet-5-6"), EACH)).toBeUndefined();
  });

  test("is the same for a model id with a date", () => {
    expect(modelFacts("claude-haiku-4-5-20251001")).toEqual(modelFacts("claude-haiku-4-5"));
  });

  test("is known for every short name", () => {
    for (const id of Object.values(MODEL_NAMES)) expect(costOf(modelFacts(id), EACH)).toBeGreaterThan(0);
  });
});

describe("prices from the user's settings", () => {
  test("apply to an unknown model, with the usual share for cached tokens", () => {
    const facts = modelFacts("my/model", { "my/model": { input: 1, output: 4, window: 32_000 } });
    expect(facts).toEqual({
      window: 32_000,
      rates: { input: 1, output: 4, cacheRead: 0.1, cacheWrite: 1.25 },
    });
  });

  test("replace the built-in prices completely, even by short name", () => {
    const own = { haiku: { input: 3, output: 6 } };
    const facts = modelFacts("claude-haiku-5-5", own, ["haiku"]);
    expect(costOf(facts, { ...NO_TOKENS, input: MILLION })).toBeCloseTo(3);
    expect(facts.window).toBe(MILLION);
  });

  test("uses the user's facts for a short name if an agent has only the full name", () => {
    const table = { fast: "my/model" };
    const named = (model: string) => namesOfModel(model, model, table);
    expect(modelFacts("my/model", { fast: { window: 9_000 } }, named("my/model")).window).toBe(9_000);
    const opus = MODEL_NAMES.opus ?? "";
    expect(modelFacts(opus, { opus: { window: 8_000 } }, named(opus)).window).toBe(8_000);
    const changed = namesOfModel(opus, opus, { opus: "my/opus" });
    expect(modelFacts(opus, { opus: { window: 8_000 } }, changed).window).not.toBe(8_000);
  });

  test("can set the window only and keep the built-in prices", () => {
    const facts = modelFacts("claude-opus-5", { "claude-opus-5": { window: 100_000 } });
    expect(facts).toEqual({ ...modelFacts("claude-opus-5"), window: 100_000 });
  });
});
