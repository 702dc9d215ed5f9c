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

/** The limit of one model of an account. */
const modelLimit = z.object({
  /** Time of the call that was refused; in milliseconds since the epoch, as all times here. */
  at: z.number(),
  /** When it ends or, if the server did not say, when the next call is tried. */
  until: z.number(),
  /** The server has said when it ends. */
  isKnown: z.boolean(),
  /** The server's message. */
  reason: z.string(),
});
export type ModelLimit = z.infer<typeof modelLimit>;

/** `teams-limits/<hash of the account>.json` in the root: limits that agents of all teams have met. */
export const accountLimits = z.object({
  /** When the present period of limits began; all agents of an account together notify a team once for a period. */
  since: z.number(),
  /** Keyed by the model's id. */
  models: z.record(z.string(), modelLimit),
});
export type AccountLimits = z.infer<typeof accountLimits>;
