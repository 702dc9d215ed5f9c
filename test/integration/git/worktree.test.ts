import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { pruneWorktree } from "../../../src/git/prune-worktree.ts";
import { discardWorktree, removeWorktree } from "../../../src/git/remove-worktree.ts";
import { checkoutOf } from "../../../src/git/repository.ts";
import { aheadBehind, changesIn } from "../../../src/git/status.ts";
import { discardLoss, unsavedIn } from "../../../src/git/unsaved.ts";
import { addWorktree, rollBackWorktree, type WorktreeRequest } from "../../../src/git/worktree.ts";
import { GIT_IDENTITY, git } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const ENV = { ...process.env, ...GIT_IDENTITY };

const MADE = "teams/review/ada";

let repository: string;

beforeEach(() => {
  repository = join(realpathSync(temporaryDirectory()), "a repository");
  mkdirSync(join(repository, "src"), { recursive: true });
  git(repository, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(repository, "src/one.txt"), "one\n");
  commit(repository, "first");
});

function commit(directory: string, message: string): void {
  git(directory, "add", "--all");
  git(directory, "commit", "--quiet", "--message", message);
}

function add(options: Partial<WorktreeRequest> = {}): ReturnType<typeof addWorktree> {
  return addWorktree({
    from: repository,
    name: "ada",
    branch: "teams/review/ada",
    branchIsGiven: false,
    env: ENV,
    ...options,
  });
}

describe("creating a worktree", () => {
  test("S66: gives each worktree its own path and branch, and leaves the repository's status unchanged", async () => {
    const [first, second] = [await add(), await add({ name: "ben", branch: "teams/review/ben" })];
    expect(first.path).not.toBe(second.path);
    expect(git(first.path, "rev-parse", "--show-toplevel")).toBe(first.path);
    expect(git(second.path, "rev-parse", "--abbrev-ref", "HEAD")).toBe("teams/review/ben");
    expect(git(repository, "status", "--porcelain", "--ignored=no")).toBe("");
    expect(first.base).toBe(git(repository, "rev-parse", "HEAD"));
  });

  test("starts from the caller's directory and HEAD, even inside another worktree", async () => {
    const outer = await add();
    writeFileSync(join(outer.path, "src/two.txt"), "two\n");
    commit(outer.path, "second");
    const inner = await add({ from: join(outer.path, "src"), name: "ben", branch: "teams/review/ben" });
    expect(inner.path).toBe(join(repository, ".worktrees/ben"));
    expect(inner.cwd).toBe(join(inner.path, "src"));
    expect(readFileSync(join(inner.cwd, "two.txt"), "utf8")).toBe("two\n");
  });

  test("picks a free name if the default is taken, and uses a branch that the user named", async () => {
    git(repository, "branch", "teams/review/ada");
    git(repository, "branch", "feature");
    mkdirSync(join(repository, ".worktrees/ada"), { recursive: true });
    const made = await add();
    expect([made.path, made.branch, made.madeBranch]).toEqual([
      join(repository, ".worktrees/ada-2"),
      "teams/review/ada-2",
      true,
    ]);
    const given = await add({ name: "ben", branch: "feature", branchIsGiven: true });
    expect([given.branch, given.madeBranch]).toEqual(["feature", false]);
  });

  test.each([
    [["teams"], "teams-2/review/ada"],
    [["teams", "teams-2"], "teams-3/review/ada"],
    [["teams/review"], "teams/review-2/ada"],
    [["teams/review/ada/old"], "teams/review/ada-2"],
    [["teams/review/ada", "teams/review/ada-2/old"], "teams/review/ada-3"],
    [["teams", "teams-2/review", "teams-2/review-2/ada"], "teams-2/review-2/ada-2"],
  ])("picks a branch that git allows next to the branches %s", async (taken, free) => {
    for (const branch of taken) git(repository, "branch", branch);
    const { branch, path } = await add();
    expect(branch).toBe(free);
    expect(git(path, "branch", "--show-current")).toBe(free);
    expect((await add({ name: "ben" })).branch).toMatch(/-\d$/);
  });

  test("carries over changed and untracked files, and leaves the user's index unchanged", async () => {
    writeFileSync(join(repository, "src/one.txt"), "changed\n");
    writeFileSync(join(repository, "new.txt"), "new\n");
    writeFileSync(join(repository, "staged.txt"), "staged\n");
    git(repository, "add", "staged.txt");
    const before = git(repository, "status", "--porcelain");
    const { path } = await add({ withChanges: true });
    expect(readFileSync(join(path, "src/one.txt"), "utf8")).toBe("changed\n");
    expect(readFileSync(join(path, "new.txt"), "utf8")).toBe("new\n");
    expect(await changesIn(path, ENV)).toEqual({ branch: "teams/review/ada", changed: 1, untracked: 2 });
    expect(git(repository, "status", "--porcelain")).toBe(before);
  });

  test("leaves nothing when git refuses: no repository, no commit, an invalid or checked-out branch", async () => {
    const outside = realpathSync(temporaryDirectory());
    await expect(add({ from: outside })).rejects.toThrow(/not a git repository/);
    const unborn = realpathSync(temporaryDirectory());
    git(unborn, "init", "--quiet");
    await expect(add({ from: unborn })).rejects.toThrow(/no commit yet/);
    expect(existsSync(join(unborn, ".worktrees"))).toBe(false);
    await expect(add({ branch: "main", branchIsGiven: true })).rejects.toThrow(
      /already checked out|already used/,
    );
    expect(existsSync(join(repository, ".worktrees/ada"))).toBe(false);
    await expect(add({ branch: "not..a branch" })).rejects.toThrow(/not a valid branch name/);
    expect(git(repository, "worktree", "list").split("\n")).toHaveLength(1);
    expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");
  });

  test("gives concurrent callers their own worktrees, and a repeated name a new suffix", async () => {
    const names = ["ada", "ada", "ben", "cem", "dee"];
    const first = await add();
    const all = await Promise.all(
      names.slice(1).map((name) => add({ name, branch: `teams/review/${name}` })),
    );
    const lines = [first, ...all].map(({ path, branch }) => `${path} ${branch}`);
    const made = ["ada", "ada-2", "ben", "cem", "dee"];
    expect(lines).toEqual(made.map((name) => `${join(repository, ".worktrees", name)} teams/review/${name}`));
  });

  test("announces the path before it exists, and creates nothing if the announcement fails", async () => {
    let seen = "";
    const announce =
      (check: (path: string) => void) => async (worktree: { path: string; branch: string }) => {
        check(worktree.path);
        seen = `${worktree.path} ${git(repository, "branch", "--list", worktree.branch)}`;
        throw new Error("not now");
      };
    const expectMissing = (path: string): void => expect(existsSync(path)).toBe(false);
    await expect(add({ onPlanned: announce(expectMissing) })).rejects.toThrow("not now");
    expect(seen).toBe(`${join(repository, ".worktrees/ada")} `);
    expect(existsSync(join(repository, ".worktrees"))).toBe(false);
  });

  test("follows the directory setting: ignored by git inside the repository, refused through a link out of it", async () => {
    const inside = await add({ directory: "trees" });
    expect(inside.path).toBe(join(repository, "trees/ada"));
    expect(git(repository, "status", "--porcelain", "--ignored=no")).toBe("");
    const outside = join(realpathSync(temporaryDirectory()), "deep/trees");
    expect((await add({ directory: outside, name: "ben", branch: "b" })).path).toBe(join(outside, "ben"));
    expect(existsSync(join(outside, ".gitignore"))).toBe(false);
    symlinkSync(outside, join(repository, "link"));
    await expect(add({ directory: "link", name: "cem", branch: "c" })).rejects.toThrow(
      /outside the repository/,
    );
    expect(existsSync(join(outside, "cem"))).toBe(false);
  });

  test("records real paths below a linked directory, so that git's record of a deleted worktree is found", async () => {
    const [elsewhere, links] = [realpathSync(temporaryDirectory()), realpathSync(temporaryDirectory())];
    symlinkSync(elsewhere, join(links, "trees"));
    const { path, branch } = await add({ directory: join(links, "trees") });
    expect(path).toBe(join(elsewhere, "ada"));
    rmSync(path, { recursive: true });
    expect(await pruneWorktree(path, { repository, madeBranch: branch }, ENV)).toEqual({ branch: true });
  });

  test("refuses to carry changes to a branch at another commit, and ignores GIT_DIR of the environment", async () => {
    git(repository, "branch", "old");
    writeFileSync(join(repository, "src/two.txt"), "two\n");
    commit(repository, "second");
    const other = { branch: "old", branchIsGiven: true, withChanges: true };
    await expect(add(other)).rejects.toThrow(/a different commit than old/);
    const env = { ...ENV, GIT_DIR: "/nowhere", GIT_WORK_TREE: "/", GIT_INDEX_FILE: "/nowhere" };
    expect((await add({ env })).startedFrom).toBe("main");
  });

  test("rolls back an unused worktree, but keeps a branch with new commits", async () => {
    const first = await add();
    writeFileSync(join(first.path, "left.txt"), "by a setup command\n");
    expect(await rollBackWorktree(first, ENV)).toEqual([]);
    expect([existsSync(first.path), git(repository, "branch", "--list", MADE)]).toEqual([false, ""]);
    expect(await rollBackWorktree(first, ENV)).toEqual([]);
    const second = await add();
    writeFileSync(join(second.path, "new.txt"), "new\n");
    commit(second.path, "second");
    expect(await rollBackWorktree(second, ENV)).toEqual([expect.stringContaining(`branch ${MADE} stays`)]);
    expect(git(repository, "log", "--format=%s", "-1", MADE)).toBe("second");
  });

  test("spares a worktree that another process has created at the planned path meanwhile", async () => {
    const path = join(repository, ".worktrees/ada");
    const onPlanned = async (): Promise<void> => {
      git(repository, "worktree", "add", "--quiet", "-b", "other", path);
      writeFileSync(join(path, "work.txt"), "work\n");
    };
    await expect(add({ onPlanned })).rejects.toThrow(/already exists.*is not checked out in it/s);
    expect(readFileSync(join(path, "work.txt"), "utf8")).toBe("work\n");
  });

  test("counts the commits ahead and behind relative to the base", async () => {
    const { path, base } = await add();
    expect(await aheadBehind(path, base, ENV)).toEqual({ ahead: 0, behind: 0 });
    writeFileSync(join(path, "two.txt"), "two\n");
    commit(path, "second");
    writeFileSync(join(repository, "three.txt"), "three\n");
    commit(repository, "third");
    expect(await aheadBehind(path, "main", ENV)).toEqual({ ahead: 1, behind: 1 });
  });
});

describe("S46: removing a worktree", () => {
  test("counts changed, untracked and unmerged committed work", async () => {
    const { path } = await add();
    expect(await unsavedIn(path, MADE, ENV)).toBeUndefined();
    writeFileSync(join(path, "new.txt"), "new\n");
    expect(await unsavedIn(path, MADE, ENV)).toEqual({ changed: 0, untracked: 1, commits: 0, nested: [] });
    commit(path, "second");
    expect(await unsavedIn(path, MADE, ENV)).toEqual({ changed: 0, untracked: 0, commits: 1, nested: [] });
    writeFileSync(join(path, "src/one.txt"), "changed\n");
    expect(await unsavedIn(path, MADE, ENV)).toEqual({ changed: 1, untracked: 0, commits: 1, nested: [] });
  });

  test("ignores commits that another branch has, but counts those of a detached HEAD", async () => {
    const { path } = await add();
    writeFileSync(join(path, "new.txt"), "new\n");
    commit(path, "second");
    git(repository, "branch", "kept", "teams/review/ada");
    expect(await unsavedIn(path, MADE, ENV)).toBeUndefined();
    git(path, "checkout", "--quiet", "--detach");
    writeFileSync(join(path, "more.txt"), "more\n");
    commit(path, "third");
    expect(await unsavedIn(path, MADE, ENV)).toEqual({ changed: 0, untracked: 0, commits: 1, nested: [] });
  });

  test("counts the commits on its branch even if HEAD has left it", async () => {
    const { path } = await add();
    writeFileSync(join(path, "new.txt"), "new\n");
    commit(path, "second");
    git(path, "checkout", "--quiet", "--detach", "main");
    expect(await unsavedIn(path, MADE, ENV)).toEqual({ changed: 0, untracked: 0, commits: 1, nested: [] });
    git(repository, "branch", "-D", "--quiet", MADE);
    expect(await unsavedIn(path, MADE, ENV)).toBeUndefined();
  });

  test("fails if a file changed after the check", async () => {
    const { path, branch } = await add();
    expect(await unsavedIn(path, MADE, ENV)).toBeUndefined();
    writeFileSync(join(path, "late.txt"), "late\n");
    await expect(removeWorktree(path, branch, ENV)).rejects.toThrow(/modified or untracked/);
    expect(existsSync(join(path, "late.txt"))).toBe(true);
  });

  test("refuses a directory that has stopped being a worktree, and spares the repository around it", async () => {
    const { path, branch } = await add();
    rmSync(join(path, ".git"));
    for (const ask of [
      () => unsavedIn(path, MADE, ENV),
      () => discardLoss(path, ENV),
      () => removeWorktree(path, branch, ENV),
      () => discardWorktree(path, ENV),
    ])
      await expect(ask()).rejects.toThrow(/no longer a worktree/);
    expect(existsSync(join(repository, "src/one.txt"))).toBe(true);
  });

  test("works in a bare repository, and keeps a branch that is checked out elsewhere", async () => {
    const bare = join(realpathSync(temporaryDirectory()), "bare.git");
    git(repository, "clone", "--quiet", "--bare", repository, bare);
    const home = join(bare, "../main");
    git(bare, "worktree", "add", "--quiet", home, "main");
    const first = await add({ from: home });
    await removeWorktree(first.path, first.branch, ENV);
    expect(git(bare, "branch", "--format=%(refname:short)")).toBe("main");
    const second = await add({ from: home });
    git(second.path, "checkout", "--quiet", "--detach");
    git(home, "checkout", "--quiet", second.branch);
    await removeWorktree(second.path, second.branch, ENV);
    expect(existsSync(second.path)).toBe(false);
    expect(git(home, "branch", "--show-current")).toBe(second.branch);
  });

  test("counts commits of a detached HEAD that no branch has", async () => {
    const { path } = await add();
    writeFileSync(join(path, "new.txt"), "new\n");
    commit(path, "second");
    expect(await discardLoss(path, ENV)).toBeUndefined();
    git(path, "checkout", "--quiet", "--detach");
    writeFileSync(join(path, "more.txt"), "more\n");
    commit(path, "third");
    expect(await discardLoss(path, ENV)).toEqual({ commits: 1, nested: [] });
  });

  test("deletes the branch on removal, and keeps it on discard", async () => {
    const first = await add();
    await removeWorktree(first.path, first.branch, ENV);
    expect(existsSync(first.path)).toBe(false);
    expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");
    const second = await add();
    writeFileSync(join(second.path, "new.txt"), "new\n");
    commit(second.path, "second");
    writeFileSync(join(second.path, "late.txt"), "late\n");
    await discardWorktree(second.path, ENV);
    expect(existsSync(second.path)).toBe(false);
    expect(git(repository, "log", "--format=%s", "-1", second.branch)).toBe("second");
  });
});

describe("finding a directory's checkout", () => {
  test("reads git's files: repository, linked worktree, branch, detached HEAD, none", async () => {
    const { path } = await add();
    expect(checkoutOf(join(repository, "src"))).toEqual({ isLinked: false, branch: "main" });
    expect(checkoutOf(path)).toEqual({ isLinked: true, branch: MADE });
    git(repository, "switch", "--quiet", "--detach");
    expect(checkoutOf(repository)).toEqual({ isLinked: false, branch: undefined });
    expect(checkoutOf(realpathSync(temporaryDirectory()))).toBeUndefined();
  });

  test("ignores the content of a file named .git", () => {
    const directory = realpathSync(temporaryDirectory());
    writeFileSync(join(directory, ".git"), "gitdir: /nowhere\n");
    expect(checkoutOf(directory)).toEqual({ isLinked: false, branch: undefined });
  });
});
