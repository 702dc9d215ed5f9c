import { realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rebaseOnto, worktreeRebasing } from "../../../src/git/rebase.ts";
import { GIT_IDENTITY, git } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { commitFile, createRepository } from "../../support/team/landing-team.ts";

const ENV = { ...process.env, ...GIT_IDENTITY };

test("worktreeRebasing › ignores the rebase of a repository around a bare one", async () => {
  const outer = createRepository(realpathSync(temporaryDirectory()));
  git(outer, "switch", "--quiet", "--create", "side");
  commitFile(outer, "shared.txt", "side\n");
  git(outer, "switch", "--quiet", "main");
  commitFile(outer, "shared.txt", "main\n");
  const bare = join(outer, "bare.git");
  git(outer, "clone", "--quiet", "--bare", outer, bare);
  const worktree = join(realpathSync(temporaryDirectory()), "worktree");
  git(bare, "worktree", "add", "--quiet", "-b", "work", worktree, "side");
  expect(await rebaseOnto(outer, "side", ENV)).toMatchObject({ conflicts: ["shared.txt"] });
  expect(await worktreeRebasing(outer, "main", ENV)).toBe(outer);
  expect(await worktreeRebasing(worktree, "main", ENV)).toBeUndefined();
});
