import * as z from "zod/mini";

/** Limits of tokens and cost; a missing one is unlimited. */
export const budgetLimits = z.object({
  /** Tokens of all kinds together, as `teams status` counts them. */
  maxTokens: z.optional(z.number().check(z.positive())),
  /** US dollars. */
  maxCostUsd: z.optional(z.number().check(z.positive())),
});
export type BudgetLimits = z.infer<typeof budgetLimits>;

/** Amount spent; US dollars include only models with a known price. */
export const spentAmount = z.object({ tokens: z.number(), costUsd: z.number() });
export type SpentAmount = z.infer<typeof spentAmount>;
