import * as z from "zod/mini";
import { processIdentity } from "./process-identity.ts";
import { placeRecord } from "./status.ts";
import { worktreeRecord } from "./worktree.ts";

/**
 * How an end is told: an agreed or forced one is for good, of the others the member stays; one that `restarted` is at work
 * again already, as somebody has seen to in its pane.
 */
const ENDING_KINDS = ["shutdown", "killed", "dismissed", "crashed", "exited", "restarted"] as const;
export type EndingKind = (typeof ENDING_KINDS)[number];

/**
 * What follows from one end of a member, while it is being done: a record in the config's `metadata._endings`, from the
 * claim of the event to the last thing that follows from it (protocol.md section 4).
 */
export const ending = z.object({
  /** Names this very end. */
  id: z.string(),
  name: z.string(),
  how: z.enum(ENDING_KINDS),
  /** The news, but for the tasks. */
  news: z.string(),
  /** What the member had not finished: the tasks that come free. */
  tasks: z.array(z.string()),
  /** The process that ended, and where it lived; nothing else is touched, whoever has the name by then. */
  process: z.optional(processIdentity),
  place: z.optional(placeRecord),
  worktree: z.optional(worktreeRecord),
  /** Who does it, and since when in milliseconds since the epoch. */
  by: processIdentity,
  at: z.number(),
  /** How often somebody began. */
  tries: z.number(),
});
export type Ending = z.infer<typeof ending>;
