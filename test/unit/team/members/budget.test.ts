import { expect, it } from "vitest";
import type { BudgetLimits } from "../../../../src/schema/budget.ts";
import { type BudgetLevel, budgetText, budgetUse } from "../../../../src/team/members/budget.ts";

const NONE: BudgetLimits = {};
const TOKENS: BudgetLimits = { maxTokens: 1_000 };
const COST: BudgetLimits = { maxCostUsd: 0.1 };
const BOTH: BudgetLimits = { ...TOKENS, ...COST };

it.each<[BudgetLevel, BudgetLimits, number, number]>([
  ["within", NONE, 1e12, 1e6],
  ["within", TOKENS, 0, 0],
  ["within", TOKENS, 799, 99],
  ["near", TOKENS, 800, 0],
  ["near", TOKENS, 999, 0],
  ["spent", TOKENS, 1_000, 0],
  ["spent", TOKENS, 5_000, 0],
  ["within", COST, 1e9, 0.0799],
  // Floating-point sums of cents: slightly below the exact value.
  ["near", COST, 0, 0.8 * 0.1],
  ["spent", COST, 0, 0.1 + 0.2 - 0.2],
  ["spent", COST, 0, Array.from({ length: 10 }, () => 0.01).reduce((a, b) => a + b)],
  ["near", BOTH, 100, 0.09],
  ["near", BOTH, 900, 0.01],
  ["spent", BOTH, 1_000, 0.01],
  ["spent", BOTH, 10, 0.2],
])("budgetUse is %s for %j with %j tokens and $%j", (level, limits, tokens, costUsd) => {
  expect(budgetUse(limits, { tokens, costUsd }).level).toBe(level);
});

it("budgetUse returns the share of the limit that is closer to being reached", () => {
  expect(budgetUse(BOTH, { tokens: 500, costUsd: 0.09 }).share).toBe(0.9);
});

it.each([
  [TOKENS, 12_345, 0, "12,345 of 1,000 tokens"],
  [COST, 5, 0.0123, "$0.012 of $0.10"],
  [BOTH, 0, 2, "0 of 1,000 tokens, $2.00 of $0.10"],
])("budgetText: %j with %j tokens and $%j reads %j", (limits, tokens, costUsd, text) => {
  expect(budgetText(limits, { tokens, costUsd })).toBe(text);
});
