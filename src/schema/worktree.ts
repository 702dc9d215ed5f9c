import * as z from "zod/mini";
import { processIdentity } from "./process-identity.ts";

/** A member's worktree: in the metadata of the member, later in the record of its end and in `former`. */
export const worktreeRecord = z.object({
  path: z.string().check(z.startsWith("/")),
  branch: z.string(),
  /** The commit that it started from, and the branch that was checked out in the lead's directory. */
  base: z.string(),
  startedFrom: z.optional(z.string()),
  /** The branch was created for it, and is deleted with it unless commits would be lost. */
  madeBranch: z.boolean(),
  /** The top directory of the main worktree, to run git after this worktree's directory is gone. */
  repository: z.optional(z.string()),
  /** A kill that discards all changes in it; the branch stays. Valid while that process is alive. */
  discard: z.optional(processIdentity),
});
export type WorktreeRecord = z.infer<typeof worktreeRecord>;
