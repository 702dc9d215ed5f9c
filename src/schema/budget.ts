import * as z from "zod/mini";

/** What may be spent; without a limit there is none. */
export const budgetLimits = z.object({
  /** Of every kind together, as `teams status` counts them. */
  maxTokens: z.optional(z.number().check(z.positive())),
  /** US dollars. */
  maxCostUsd: z.optional(z.number().check(z.positive())),
});
export type BudgetLimits = z.infer<typeof budgetLimits>;

/** What was spent; US dollars count only what has a known price. */
export const spentAmount = z.object({ tokens: z.number(), costUsd: z.number() });
export type SpentAmount = z.infer<typeof spentAmount>;
