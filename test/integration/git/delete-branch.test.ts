import { appendFileSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { pruneWorktree } from "../../../src/git/prune-worktree.ts";
import { removeWorktree } from "../../../src/git/remove-worktree.ts";
import { unsavedIn } from "../../../src/git/unsaved.ts";
import { addWorktree } from "../../../src/git/worktree.ts";
import { removeTree } from "../../../src/os/files/fs.ts";
import { GIT_IDENTITY, git } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const ENV = { ...process.env, ...GIT_IDENTITY };

let repository: string;
let ada: string;
let ben: string;

const branchOf = (name: string): string => `teams/review/${name}`;

async function addTree(name: string): Promise<string> {
  const branch = branchOf(name);
  return (await addWorktree({ from: repository, name, branch, branchIsGiven: false, env: ENV })).path;
}

const branchesWith = (commit: string): string[] =>
  git(repository, "branch", "--format=%(refname:short)", "--contains", commit).split("\n");

/** Makes a commit that only this branch has. @returns its hash */
function commitIn(directory: string, text: string): string {
  appendFileSync(join(directory, "file.txt"), text);
  git(directory, "commit", "--quiet", "--all", "--message", "work");
  return git(directory, "rev-parse", "HEAD");
}

beforeEach(async () => {
  repository = join(realpathSync(temporaryDirectory()), "repository");
  mkdirSync(repository);
  git(repository, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(repository, "file.txt"), "one\n");
  git(repository, "add", "--all");
  git(repository, "commit", "--quiet", "--message", "first");
  [ada, ben] = [await addTree("ada"), await addTree("ben")];
});

test.each(["a removed worktree", "a deleted worktree"])(
  "the branch of %s › stays if the other branch with its commits is deleted at the same moment",
  async (how) => {
    const commit = commitIn(ada, "two\n");
    git(ben, "merge", "--quiet", "--ff-only", branchOf("ada"));
    expect(await unsavedIn(ada, branchOf("ada"), ENV)).toBeUndefined();
    // The hook deletes ben's branch when git is about to delete ada's.
    const other = join(repository, ".git/refs/heads", branchOf("ben"));
    const hook = `#!/bin/sh
read -r _ new ref
[ "$1 $ref" = "prepared refs/heads/${branchOf("ada")}" ] || exit 0
case $new in *[!0]*) ;; *) rm -f '${other}' ;; esac
`;
    writeFileSync(join(repository, ".git/hooks/reference-transaction"), hook, { mode: 0o755 });
    if (how === "a removed worktree") await removeWorktree(ada, branchOf("ada"), ENV);
    else {
      removeTree(ada);
      const pruned = await pruneWorktree(ada, { repository, madeBranch: branchOf("ada") }, ENV);
      expect(pruned).toEqual({ branch: false });
    }
    expect(branchesWith(commit)).toEqual([branchOf("ada")]);
  },
);

test("two worktrees with the same commits › leave a branch with the commits if they are removed together", async () => {
  const commit = commitIn(ada, "two\n");
  git(ben, "merge", "--quiet", "--ff-only", branchOf("ada"));
  const end = async (path: string, branch: string): Promise<void> => {
    if ((await unsavedIn(path, branch, ENV)) === undefined) await removeWorktree(path, branch, ENV);
  };
  await Promise.all([end(ada, branchOf("ada")), end(ben, branchOf("ben"))]);
  expect(branchesWith(commit)).not.toEqual([""]);
});

test("the record of a deleted worktree › stays while a rebase has stashed changes", async () => {
  commitIn(ada, "two\n");
  commitIn(repository, "other\n");
  git(repository, "branch", "kept", branchOf("ada"));
  writeFileSync(join(ada, "aside.txt"), "aside\n");
  git(ada, "add", "aside.txt");
  expect(() => git(ada, "rebase", "--quiet", "--autostash", "main")).toThrow();
  git(ada, "rebase", "--show-current-patch");
  removeTree(ada);
  await expect(pruneWorktree(ada, { repository, madeBranch: branchOf("ada") }, ENV)).rejects.toThrow(
    /a rebase was in progress/,
  );
  expect(git(repository, "worktree", "list")).toContain(ada);
});

test("a worktree › is unsaved while a bisect refers to a commit that no branch has", async () => {
  commitIn(ada, "two\n");
  git(ada, "bisect", "start");
  git(ada, "bisect", "bad");
  git(ada, "reset", "--quiet", "--hard", "main");
  expect(await unsavedIn(ada, branchOf("ada"), ENV)).toMatchObject({ operation: "bisect" });
});
