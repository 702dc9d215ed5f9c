import { expect, it } from "vitest";
import { unsavedText } from "../../../../src/operations/worktrees/worktree-work.ts";

it("unsavedText › explains hidden files in a nested repository as in the worktree", () => {
  const why =
    "that only info/exclude or core.excludesFile of the repository ignores (git status --ignored shows them)";
  const nested = [{ path: "lib", changed: 0, untracked: 1, ignored: 2, commits: 1 }];
  expect(unsavedText({ changed: 0, untracked: 0, ignored: 1, commits: 0, nested })).toBe(
    `1 untracked file ${why}, in lib: 1 untracked file, 2 untracked files ${why}, 1 commit that is on no remote`,
  );
});
