import type { WorktreeEnd } from "../operations/worktrees/remove-worktree.ts";
import { removeCommand } from "../operations/worktrees/worktree-work.ts";
import { line } from "./output.ts";

/**
 * Returns a line for each worktree that was not removed, with the reason and how to remove it, and for each that
 * was deleted before.
 */
export function keptLines(worktrees: readonly (WorktreeEnd | undefined)[]): string[] {
  return worktrees.flatMap((worktree) => {
    if (worktree?.note !== undefined) return [line`The worktree ${worktree.path}: ${worktree.note}.`];
    if (worktree === undefined || worktree.kept === null) return [];
    const { path, branch, kept, advice } = worktree;
    const remove =
      advice ?? `To remove it with all its files (branch ${branch} stays): ${removeCommand(path)}`;
    return [line`The worktree ${path} stays: ${kept}. ${remove}`];
  });
}
