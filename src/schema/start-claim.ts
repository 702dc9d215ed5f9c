import * as z from "zod/mini";
import { processIdentity } from "./process-identity.ts";

/**
 * A member that is being started, for the first time or again: a record in its `metadata._restart`, from the claim until the
 * start stands or has failed, so that two who resume a team start nobody twice, and one that was killed over it leaves a
 * member that can be started, and loses no conversation.
 */
export const restart = z.object({
  /** The uuid of the new start. */
  instance: z.string(),
  /** That of a start before it that a killed process began and nobody knows the end of. */
  begun: z.optional(z.string()),
  /** It has never been started to the end: its prompt may not be in its inbox. */
  first: z.optional(z.boolean()),
  /** The conversation that goes on; none where it had not begun one. */
  session: z.optional(z.string()),
  /** Who does it, and since when in milliseconds since the epoch. */
  by: processIdentity,
  at: z.number(),
});
export type Restart = z.infer<typeof restart>;
