import type { WorktreeEnd } from "../operations/worktrees/remove-worktree.ts";
import { shellWord } from "../text/shell-quote.ts";
import { line } from "./output.ts";

/**
 * Returns a line for each worktree that was not removed, with the reason and the command to remove it, and for each that
 * was deleted before.
 */
export function keptLines(worktrees: readonly (WorktreeEnd | undefined)[]): string[] {
  return worktrees.flatMap((worktree) => {
    if (worktree?.note !== undefined) return [line`The worktree ${worktree.path}: ${worktree.note}.`];
    if (worktree === undefined || worktree.kept === null) return [];
    const { path, branch, kept } = worktree;
    const command = `git -C ${shellWord(path)} worktree remove --force ${shellWord(path)}`;
    return [
      line`The worktree ${path} stays: ${kept}. To remove it with all its files (branch ${branch} stays): ${command}`,
    ];
  });
}
