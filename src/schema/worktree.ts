import * as z from "zod/mini";
import { processIdentity } from "./process-identity.ts";

/** A member's worktree: in the member's metadata while it is one, then in the record of its end and in `former`. */
export const worktreeRecord = z.object({
  path: z.string().check(z.startsWith("/")),
  branch: z.string(),
  /** The commit that it began with, and the branch that was checked out where it was asked for. */
  base: z.string(),
  startedFrom: z.optional(z.string()),
  /** The branch was made for it, and goes with it when nothing on it would be lost. */
  madeBranch: z.boolean(),
  /** The top of the main worktree: git is asked there once this one's directory is gone. */
  repository: z.optional(z.string()),
  /** It goes with all that is in it, and its branch stays: the kill that was told so. Counts while that process lives. */
  discard: z.optional(processIdentity),
});
export type WorktreeRecord = z.infer<typeof worktreeRecord>;
