import type { BudgetLimits } from "../schema/budget.ts";
import { defined } from "../schema/defined.ts";
import { amountOption } from "./option-values.ts";

/** The options of a command that set a budget. */
export const BUDGET_OPTIONS = {
  maxTokens: { value: "tokens", summary: "the most tokens to use: a warning at 80 %, a pause at 100 %" },
  maxCost: {
    value: "dollars",
    summary: "the most to spend, in US dollars; only for models with a known price",
  },
} as const;

/** @throws TeamError INVALID_INPUT */
export function budgetLimits(options: {
  readonly maxTokens: string | undefined;
  readonly maxCost: string | undefined;
}): BudgetLimits {
  return defined({
    maxTokens: amountOption(options.maxTokens, "--max-tokens", "whole"),
    maxCostUsd: amountOption(options.maxCost, "--max-cost"),
  });
}
