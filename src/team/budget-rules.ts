import type { BudgetLimits, SpentAmount } from "../schema/budget.ts";

/** Part of a budget that is left alone: past it lead and person are told, while there is time to act. */
export const WARN_AT = 0.8;

export type BudgetLevel = "within" | "near" | "spent";

/** How far a budget is used, by the limit that is nearer. */
export interface BudgetUse {
  readonly level: BudgetLevel;
  /** 1 is all of it. */
  readonly share: number;
}

/** Sums of fractions of a cent are off by less. */
const PRECISION = 1e9;

export function budgetUse({ maxTokens, maxCostUsd }: BudgetLimits, spent: SpentAmount): BudgetUse {
  const shares = [
    maxTokens === undefined ? 0 : spent.tokens / maxTokens,
    maxCostUsd === undefined ? 0 : spent.costUsd / maxCostUsd,
  ];
  const share = Math.round(Math.max(...shares) * PRECISION) / PRECISION;
  return { level: share >= 1 ? "spent" : share >= WARN_AT ? "near" : "within", share };
}
