import type { BudgetLimits, SpentAmount } from "../schema/budget.ts";

/** `8,123 of 10,000 tokens, $0.12 of $1.00` */
export function budgetText(
  { maxTokens, maxCostUsd }: BudgetLimits,
  { tokens, costUsd }: SpentAmount,
): string {
  const parts = [
    ...(maxTokens === undefined ? [] : [`${grouped(tokens)} of ${grouped(maxTokens)} tokens`]),
    ...(maxCostUsd === undefined ? [] : [`${dollars(costUsd)} of ${dollars(maxCostUsd)}`]),
  ];
  return parts.join(", ");
}

function grouped(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** To the cent; what is less to two digits that say something. */
function dollars(amount: number): string {
  return `$${amount === 0 || amount >= 0.1 ? amount.toFixed(2) : amount.toPrecision(2)}`;
}
