import * as z from "zod/mini";
import { processIdentity } from "./process-identity.ts";
import { placeRecord } from "./status.ts";
import { worktreeRecord } from "./worktree.ts";

/**
 * How a member ended. After `shutdown`, `killed` and `dismissed` it leaves the team, otherwise it stays. `restarted` means
 * that it runs again already, or is about to, so it keeps its tasks.
 */
const ENDING_KINDS = ["shutdown", "killed", "dismissed", "crashed", "exited", "restarted"] as const;
export type EndingKind = (typeof ENDING_KINDS)[number];

/**
 * The end of a member while it is being processed: a record in the config's `metadata._endings`, from the claim until
 * everything that follows from the end is done (protocol.md section 4).
 */
export const ending = z.object({
  /** Identifies this end. */
  id: z.string(),
  name: z.string(),
  how: z.enum(ENDING_KINDS),
  /** Text of the notification, without the tasks. */
  news: z.string(),
  /** Ids of the member's unfinished tasks, which are to be unassigned. */
  tasks: z.array(z.string()),
  /** The process that ended, and its place. Nothing else is removed, even if another member has the name by then. */
  process: z.optional(processIdentity),
  place: z.optional(placeRecord),
  worktree: z.optional(worktreeRecord),
  /** The process that claimed it, and when, in milliseconds since the epoch. */
  by: processIdentity,
  at: z.number(),
  /** Number of claims so far. */
  tries: z.number(),
  /** Why the newest attempt failed. The ending is tried again. */
  problem: z.optional(z.string()),
});
export type Ending = z.infer<typeof ending>;
