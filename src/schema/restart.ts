import * as z from "zod/mini";
import { processIdentity } from "./process.ts";

/**
 * A member that is being started again: a record in its `metadata._restart`, from the claim until the new start stands or
 * has failed, so that two who resume a team start nobody twice, and one that was killed over it loses no conversation.
 */
export const restart = z.object({
  /** The uuid of the new start. */
  instance: z.string(),
  /** That of a start before it that a killed process began and nobody knows the end of. */
  begun: z.optional(z.string()),
  /** The conversation that goes on; none where it had not begun one. */
  session: z.optional(z.string()),
  /** Who does it, and since when in milliseconds since the epoch. */
  by: processIdentity,
  at: z.number(),
});
export type Restart = z.infer<typeof restart>;
