import * as z from "zod/mini";
import { processIdentity } from "./process-identity.ts";

/**
 * A start of a member that is under way: in its metadata from the claim until the start has succeeded or failed. Two
 * processes that resume a team thus start no member twice, and a killed one leaves a member that can be started with its
 * conversation.
 */
export const startClaim = z.object({
  /** The uuid of the new start. */
  instance: z.string(),
  /** The uuid of an earlier start that a killed process left unfinished. */
  begun: z.optional(z.string()),
  /** No start has finished yet: its prompt may be missing from its inbox. */
  first: z.optional(z.boolean()),
  /** The conversation to continue; undefined if it had none. The id for the next one is the member's `_session`. */
  session: z.optional(z.string()),
  /** The claimant, and when it claimed, in milliseconds since the epoch. */
  by: processIdentity,
  at: z.number(),
});
export type StartClaim = z.infer<typeof startClaim>;
