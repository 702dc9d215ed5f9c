import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { diffSince } from "../../../src/git/diff.ts";
import { removeWorktree } from "../../../src/git/remove-worktree.ts";
import { changesIn } from "../../../src/git/status.ts";
import { discardLoss, unsavedIn } from "../../../src/git/unsaved.ts";
import { addWorktree } from "../../../src/git/worktree.ts";
import { removeTree } from "../../../src/os/files/fs.ts";
import { GIT_IDENTITY, git } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { eventually } from "../../support/timing/eventually.ts";

const ENV = { ...process.env, ...GIT_IDENTITY };
const BRANCH = "teams/review/ada";
const CHANGED = { changed: 1, untracked: 0, commits: 0, nested: [] };

let base: string;
let repository: string;
let path: string;

function commit(directory: string, message: string): void {
  git(directory, "add", "--all");
  git(directory, "commit", "--quiet", "--message", message);
}

async function addTree(name = "ada"): Promise<string> {
  const branch = `teams/review/${name}`;
  return (await addWorktree({ from: repository, name, branch, branchIsGiven: false, env: ENV })).path;
}

const unsaved = (): ReturnType<typeof unsavedIn> => unsavedIn(path, BRANCH, ENV);

beforeEach(async () => {
  base = realpathSync(temporaryDirectory());
  repository = join(base, "repository");
  mkdirSync(join(repository, "far"), { recursive: true });
  git(repository, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(repository, "config.ini"), "a = 1\n");
  writeFileSync(join(repository, "ä name.txt"), "one\n");
  writeFileSync(join(repository, "far/away.txt"), "one\n");
  writeFileSync(join(repository, ".gitignore"), "ignored/\n");
  commit(repository, "first");
  path = await addTree();
});

describe("a change that git status hides", () => {
  test.each(["--assume-unchanged", "--skip-worktree"])("counts after update-index %s", async (flag) => {
    git(path, "update-index", flag, "config.ini", "ä name.txt");
    expect(await unsaved()).toBeUndefined();
    appendFileSync(join(path, "config.ini"), "b = 2\n");
    appendFileSync(join(path, "ä name.txt"), "two\n");
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(await unsaved()).toEqual({ ...CHANGED, changed: 2, hasFlags: true });
    const { files } = await diffSince(path, "HEAD", ENV);
    expect(files.map((file) => file.path).sort()).toEqual(["config.ini", "ä name.txt"]);
    expect((await changesIn(join(path, "far"), ENV)).changed).toBe(2);
    expect(git(path, "ls-files", "-v", "config.ini")).not.toMatch(/^H/);
  });

  test("counts if a file with a flag was deleted, but not if the checkout is sparse", async () => {
    git(path, "update-index", "--assume-unchanged", "config.ini");
    renameSync(join(path, "config.ini"), join(base, "config.ini"));
    expect(await unsaved()).toMatchObject(CHANGED);
    renameSync(join(base, "config.ini"), join(path, "config.ini"));
    git(path, "sparse-checkout", "set", "near");
    expect(existsSync(join(path, "far"))).toBe(false);
    expect(await unsaved()).toBeUndefined();
  });

  test.each([[], ["--sparse-index"]])("counts outside a sparse checkout %s", async (...index) => {
    git(path, "sparse-checkout", "set", ...index, "near");
    git(path, "config", "sparse.expectFilesOutsideOfPatterns", "true");
    mkdirSync(join(path, "far"));
    writeFileSync(join(path, "far/away.txt"), "two\n");
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(await unsaved()).toMatchObject(CHANGED);
  });

  test("counts with core.ignoreStat, which sets the flag for each file that git writes", async () => {
    git(path, "config", "core.ignoreStat", "true");
    git(path, "checkout", "--quiet", "--force", "HEAD~0", "--", ".");
    git(path, "update-index", "--refresh");
    appendFileSync(join(path, "config.ini"), "b = 2\n");
    git(path, "add", "config.ini");
    git(path, "commit", "--quiet", "--message", "second");
    git(repository, "branch", "kept", BRANCH);
    appendFileSync(join(path, "config.ini"), "c = 3\n");
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(await unsaved()).toMatchObject(CHANGED);
  });

  test("counts with a file system monitor that reports nothing", async () => {
    const monitor = join(base, "monitor");
    writeFileSync(monitor, "#!/bin/sh\nprintf 'token\\0'\n", { mode: 0o755 });
    git(path, "config", "core.fsmonitor", monitor);
    git(path, "status");
    git(path, "update-index", "--fsmonitor-valid", "config.ini");
    appendFileSync(join(path, "config.ini"), "b = 2\n");
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(await unsaved()).toEqual(CHANGED);
  });

  test("counts with settings that trust size and time of a file", async () => {
    git(path, "config", "core.trustCtime", "false");
    git(path, "config", "core.checkStat", "minimal");
    const file = join(path, "config.ini");
    // Older than the index: git would read a file of the same second.
    utimesSync(file, 1_000_000_000, 1_000_000_000);
    git(path, "update-index", "--refresh");
    const { mtime, atime, ctimeMs } = statSync(file);
    // Git compares whole seconds of the file system's clock.
    await eventually("the next second", () => {
      writeFileSync(join(base, "now"), "");
      return Math.floor(statSync(join(base, "now")).ctimeMs / 1000) > Math.floor(ctimeMs / 1000);
    });
    writeFileSync(file, "a = 2\n");
    utimesSync(file, atime, mtime);
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(await unsaved()).toEqual(CHANGED);
  });

  test("counts with core.fileMode, core.ignoreCase and status.showUntrackedFiles", async () => {
    git(path, "config", "core.fileMode", "false");
    chmodSync(join(path, "config.ini"), 0o755);
    expect(await unsaved()).toEqual(CHANGED);
    chmodSync(join(path, "config.ini"), 0o644);
    git(path, "config", "core.ignoreCase", "true");
    writeFileSync(join(path, "Config.ini"), "other\n");
    expect(await unsaved()).toMatchObject({ changed: 0, untracked: 1 });
    renameSync(join(path, "Config.ini"), join(path, "new.txt"));
    git(path, "config", "status.showUntrackedFiles", "no");
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(await unsaved()).toMatchObject({ changed: 0, untracked: 1 });
  });

  test.each(["info/exclude", "core.excludesFile"])("counts if only %s ignores it", async (list) => {
    const file = join(repository, list === "info/exclude" ? ".git/info/exclude" : "private");
    if (list !== "info/exclude") {
      git(path, "config", "core.excludesFile", file);
      appendFileSync(join(repository, ".git/info/exclude"), "private\n");
    }
    appendFileSync(file, "notes*\nkept/\nignored/\n");
    mkdirSync(join(path, "ignored"));
    writeFileSync(join(path, "ignored/made.txt"), "1\n");
    mkdirSync(join(path, "kept"));
    expect(await unsaved()).toBeUndefined();
    writeFileSync(join(path, "notes ä.txt"), "1\n");
    writeFileSync(join(path, "kept/a.txt"), "1\n");
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(await unsaved()).toEqual({ ...CHANGED, changed: 0, ignored: 2 });
  });

  test("does not count if the user's list for all repositories ignores it", async () => {
    const config = join(base, "config");
    writeFileSync(join(base, "all"), "litter\n");
    git(repository, "config", "--file", config, "core.excludesFile", join(base, "all"));
    writeFileSync(join(path, "litter"), "1\n");
    const env = { ...ENV, GIT_CONFIG_GLOBAL: config };
    expect(await unsavedIn(path, BRANCH, env)).toBeUndefined();
    expect(await unsaved()).toEqual({ ...CHANGED, changed: 0, untracked: 1 });
  });

  test.each(["core.excludesFile", "git's default path"])(
    "does not count if info/exclude and the user's list in %s ignore it",
    async (source) => {
      const config = join(base, "config");
      const list = join(base, source === "core.excludesFile" ? "all" : "xdg/git/ignore");
      mkdirSync(dirname(list), { recursive: true });
      writeFileSync(list, "litter\n");
      writeFileSync(config, "");
      if (source === "core.excludesFile")
        git(repository, "config", "--file", config, "core.excludesFile", list);
      appendFileSync(join(repository, ".git/info/exclude"), "litter\nnotes\n");
      for (const name of ["litter", "notes"]) writeFileSync(join(path, name), "1\n");
      const env = { ...ENV, GIT_CONFIG_GLOBAL: config, XDG_CONFIG_HOME: join(base, "xdg") };
      expect(await unsavedIn(path, BRANCH, env)).toEqual({ ...CHANGED, changed: 0, ignored: 1 });
    },
  );

  test("counts as untracked if info/exclude cannot be read", async () => {
    const list = join(repository, ".git/info/exclude");
    rmSync(list, { force: true });
    symlinkSync("exclude", list);
    writeFileSync(join(path, "notes"), "1\n");
    expect(await unsaved()).toEqual({ ...CHANGED, changed: 0, untracked: 1 });
  });

  test("counts if a rebase has stashed it", async () => {
    const env = { ...process.env, ...GIT_IDENTITY, GIT_SEQUENCE_EDITOR: "sed -i.bak '1i break'" };
    git(path, "commit", "--quiet", "--allow-empty", "--message", "second");
    git(repository, "branch", "kept", BRANCH);
    appendFileSync(join(path, "config.ini"), "b = 2\n");
    const { execFileSync } = await import("node:child_process");
    execFileSync("git", ["-C", path, "rebase", "--quiet", "-i", "--autostash", "HEAD~1"], {
      env,
      stdio: "pipe",
    });
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(await unsaved()).toMatchObject({ operation: "rebase" });
  });

  test("counts if a merge without changes has no commit yet", async () => {
    git(path, "commit", "--quiet", "--allow-empty", "--message", "second");
    git(repository, "branch", "kept", BRANCH);
    git(path, "switch", "--quiet", "--detach", "main");
    git(path, "merge", "--quiet", "--no-ff", "--no-commit", "kept");
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(await unsaved()).toMatchObject({ operation: "merge" });
  });
});

/** Gives the repository a submodule `lib`, which itself has a submodule `deep`, and the worktree a checkout of both. */
async function withSubmodules(): Promise<string> {
  const update = (directory: string): string =>
    git(
      directory,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "update",
      "--init",
      "--recursive",
    );
  for (const [name, inside] of [
    ["deep", undefined],
    ["lib", "deep"],
    ["repository", "lib"],
  ] as const) {
    const top = join(base, name);
    if (name !== "repository") {
      git(base, "init", "--quiet", "--initial-branch=main", name);
      writeFileSync(join(top, "file.txt"), "one\n");
      commit(top, "first");
    }
    if (inside === undefined) continue;
    const words = ["submodule", "--quiet", "add", join(base, inside), inside];
    git(top, "-c", "protocol.file.allow=always", ...words);
    commit(top, "submodule");
  }
  git(path, "merge", "--quiet", "--ff-only", "main");
  update(path);
  return join(path, "lib");
}

function commitFile(directory: string, name = "new.txt"): void {
  writeFileSync(join(directory, name), "new\n");
  commit(directory, "work");
}

describe("a worktree with submodules", () => {
  test("is removed if nothing in them is unsaved", async () => {
    const lib = await withSubmodules();
    expect(await unsaved()).toBeUndefined();
    git(lib, "config", "core.hooksPath", "/nowhere");
    await removeWorktree(path, BRANCH, ENV);
    expect(existsSync(path)).toBe(false);
    expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");
  });

  test.each([
    ["a submodule", "lib"],
    ["a submodule of a submodule", "lib/deep"],
  ])("counts changes of %s, whatever its settings ignore", async (_, name) => {
    await withSubmodules();
    const top = join(path, name);
    git(path, "config", "submodule.lib.ignore", "all");
    git(path, "config", "diff.ignoreSubmodules", "all");
    git(join(path, "lib"), "config", "submodule.deep.ignore", "all");
    git(top, "update-index", "--assume-unchanged", "file.txt");
    appendFileSync(join(top, "file.txt"), "two\n");
    writeFileSync(join(top, "new.txt"), "new\n");
    expect(git(path, "status", "--porcelain")).toBe("");
    const nested = [{ path: name, changed: 1, untracked: 1, commits: 0 }];
    expect(await unsaved()).toEqual({ changed: 0, untracked: 0, commits: 0, nested });
    expect(await discardLoss(path, ENV)).toBeUndefined();
  });

  test.each([
    ["of a detached HEAD", (_: string) => undefined],
    ["of a branch that was left", (lib: string) => git(lib, "checkout", "--quiet", "-")],
    [
      "of a tag",
      (lib: string) => {
        git(lib, "tag", "mine");
        git(lib, "switch", "--quiet", "--detach", "origin/main");
        git(lib, "branch", "--quiet", "-D", "work");
      },
    ],
    [
      "of a stash",
      (lib: string) => {
        git(lib, "reset", "--quiet", "--soft", "HEAD~1");
        git(lib, "stash", "push", "--quiet");
      },
    ],
  ])("counts a commit %s of a submodule, even for a discard", async (_, leave) => {
    const lib = await withSubmodules();
    git(lib, "switch", "--quiet", "-c", "work");
    commitFile(lib);
    leave(lib);
    const moved = git(lib, "rev-parse", "HEAD") !== git(path, "rev-parse", "HEAD:lib");
    const commits = expect.toSatisfy((n: number) => n >= 1);
    const nested = [{ path: "lib", changed: 0, untracked: 0, commits }];
    expect(await unsaved()).toEqual({ changed: moved ? 1 : 0, untracked: 0, commits: 0, nested });
    expect(await discardLoss(path, ENV)).toMatchObject({ nested });
  });

  test("does not count commits that the submodule's remote, or the commit that it was cloned at, has", async () => {
    const lib = await withSubmodules();
    git(lib, "switch", "--quiet", "-c", "work");
    commitFile(lib);
    git(lib, "push", "--quiet", "origin", "work");
    expect((await unsaved())?.nested).toEqual([]);
    // A commit on no branch of the remote, as of a deleted release branch.
    const other = join(base, "lib");
    git(other, "switch", "--quiet", "--detach", "main");
    commitFile(other, "release.txt");
    git(other, "tag", "v1");
    const release = git(other, "rev-parse", "HEAD");
    git(lib, "fetch", "--quiet", "origin", release);
    git(lib, "checkout", "--quiet", release);
    git(lib, "fetch", "--quiet", "--tags", "origin");
    expect((await unsaved())?.nested).toEqual([]);
  });

  test("counts commits of a submodule that was removed from the tree, and of a deleted worktree", async () => {
    const lib = await withSubmodules();
    commitFile(lib);
    git(path, "rm", "--quiet", "--force", "lib");
    git(path, "commit", "--quiet", "--message", "no lib");
    git(repository, "branch", "kept", BRANCH);
    const nested = [{ path: "lib", changed: 0, untracked: 0, commits: 1 }];
    expect(await unsaved()).toEqual({ changed: 0, untracked: 0, commits: 0, nested });
    const { pruneWorktree } = await import("../../../src/git/prune-worktree.ts");
    removeTree(path);
    await expect(pruneWorktree(path, { repository }, ENV)).rejects.toThrow(/lib .*1 commit/);
    expect(git(repository, "worktree", "list")).toContain(path);
  });

  // macOS refuses such names.
  test.skipIf(platform() === "darwin")("is kept if the name of a submodule is not UTF-8", async () => {
    const lib = await withSubmodules();
    commitFile(lib);
    const link = join(lib, ".git");
    const own = realpathSync(join(lib, readFileSync(link, "utf8").slice("gitdir: ".length).trim()));
    const renamed = Buffer.concat([Buffer.from(own), Buffer.from([0xff])]);
    renameSync(own, renamed);
    writeFileSync(link, Buffer.concat([Buffer.from("gitdir: "), renamed, Buffer.from("\n")]));
    await expect(unsaved()).rejects.toThrow(/modules\/lib\uFFFD cannot be read/);
  });

  test("is kept, and runs nothing, if a submodule's configuration could run programs", async () => {
    const lib = await withSubmodules();
    const ran = join(base, "ran");
    git(lib, "config", "filter.x.clean", `touch '${ran}'; cat`);
    writeFileSync(join(lib, ".gitattributes"), "* filter=x\n");
    utimesSync(join(lib, "file.txt"), 1, 1);
    await expect(unsaved()).rejects.toThrow(/may make git run programs/);
    expect(existsSync(ran)).toBe(false);
  });
});

test("a diff of a worktree with submodules › runs no program of their configuration with diff.submodule=diff", async () => {
  const lib = await withSubmodules();
  const ran = join(base, "ran");
  git(lib, "config", "diff.external", `touch '${ran}'; true`);
  commitFile(lib);
  git(path, "config", "diff.submodule", "diff");
  const { files, patch } = await diffSince(path, "HEAD", ENV);
  expect(files.map((file) => file.path)).toEqual(["lib"]);
  expect(patch).toContain("Subproject commit");
  expect(existsSync(ran)).toBe(false);
});

describe("a repository inside a worktree", () => {
  const nest = (name: string): string => {
    const top = join(path, "ignored", name);
    mkdirSync(join(path, "ignored"), { recursive: true });
    git(path, "clone", "--quiet", repository, top);
    return top;
  };

  test("counts with its changes and its commits, even if the files are ignored", async () => {
    const first = nest("first");
    nest("second");
    expect(await unsaved()).toBeUndefined();
    commitFile(first);
    appendFileSync(join(first, "config.ini"), "b = 2\n");
    const work = { path: "ignored/first", changed: 1, untracked: 0, commits: 1 };
    expect(await unsaved()).toEqual({ changed: 0, untracked: 0, commits: 0, nested: [work] });
    expect(await discardLoss(path, ENV)).toMatchObject({ nested: [{ path: "ignored/first", commits: 1 }] });
  });

  test("counts without a commit or a remote", async () => {
    const top = join(path, "ignored/fresh");
    git(path, "init", "--quiet", top);
    expect(await unsaved()).toBeUndefined();
    writeFileSync(join(top, "new.txt"), "new\n");
    expect(await unsaved()).toMatchObject({ nested: [{ path: "ignored/fresh", untracked: 1 }] });
    commit(top, "first");
    expect(await unsaved()).toMatchObject({ nested: [{ path: "ignored/fresh", commits: 1 }] });
  });

  test("counts as unsaved if it is bare, with the commits that were not cloned from elsewhere", async () => {
    const bare = join(path, "ignored/own.git");
    git(path, "init", "--quiet", "--bare", "--initial-branch=main", bare);
    git(path, "clone", "--quiet", "--bare", repository, join(path, "ignored/cache.git"));
    expect(await unsaved()).toBeUndefined();
    const elsewhere = join(base, "elsewhere");
    git(base, "clone", "--quiet", repository, elsewhere);
    commitFile(elsewhere);
    git(elsewhere, "push", "--quiet", bare, "HEAD:refs/heads/main");
    const nested = [{ path: "ignored/own.git", changed: 0, untracked: 0, commits: 2 }];
    expect(await unsaved()).toEqual({ ...CHANGED, changed: 0, nested });
    expect(await discardLoss(path, ENV)).toEqual({ commits: 0, nested });
    const cache = join(path, "ignored/cache.git");
    git(elsewhere, "push", "--quiet", cache, "HEAD:refs/heads/main");
    const counts = async () =>
      (await unsaved())?.nested.map((one) => `${one.path} ${one.commits}`).toSorted();
    expect(await counts()).toEqual(["ignored/cache.git 1", "ignored/own.git 2"]);
    // pack-refs also packs the pushed branch: then all commits count.
    git(cache, "pack-refs", "--all");
    expect(await counts()).toEqual(["ignored/cache.git 2", "ignored/own.git 2"]);
  });

  test("counts every commit if it is bare and its HEAD was written after it packed its own refs", async () => {
    const bare = join(path, "ignored/cache.git");
    git(path, "clone", "--quiet", "--bare", repository, bare);
    const elsewhere = join(base, "elsewhere");
    git(base, "clone", "--quiet", repository, elsewhere);
    commitFile(elsewhere);
    git(elsewhere, "push", "--quiet", bare, "HEAD:refs/heads/main");
    git(bare, "pack-refs", "--all");
    git(bare, "branch", "--move", "main", "trunk");
    const minuteLater = statSync(join(bare, "packed-refs")).mtimeMs / 1_000 + 60;
    utimesSync(join(bare, "HEAD"), minuteLater, minuteLater);
    expect(await unsaved()).toMatchObject({ nested: [{ path: "ignored/cache.git", commits: 2 }] });
  });

  test("counts every commit if it is bare and gc has run, even when all its files have the same time", async () => {
    const bare = join(path, "ignored/cache.git");
    git(path, "clone", "--quiet", "--bare", repository, bare);
    const elsewhere = join(base, "elsewhere");
    git(base, "clone", "--quiet", repository, elsewhere);
    commitFile(elsewhere);
    git(elsewhere, "push", "--quiet", bare, "HEAD:refs/heads/main");
    git(bare, "gc", "--quiet");
    for (const name of ["HEAD", "packed-refs"]) utimesSync(join(bare, name), 1_700_000_000, 1_700_000_000);
    expect(await unsaved()).toMatchObject({ nested: [{ path: "ignored/cache.git", commits: 2 }] });
  });

  test.each([
    ["directory", "loose objects", "", "100"],
    ["directory", "a pack", "", "1"],
    ["URL", "loose objects", "file://", "100"],
    ["URL", "a pack", "file://", "1"],
  ])(
    "counts every commit if it is a bare clone of a %s and packed its refs after a push of %s",
    async (_source, _objects, scheme, unpackLimit) => {
      const bare = join(path, "ignored/cache.git");
      git(path, "clone", "--quiet", "--bare", `${scheme}${repository}`, bare);
      expect(await unsaved()).toBeUndefined();
      git(bare, "config", "receive.unpackLimit", unpackLimit);
      const elsewhere = join(base, "elsewhere");
      git(base, "clone", "--quiet", repository, elsewhere);
      commitFile(elsewhere);
      git(elsewhere, "push", "--quiet", bare, "HEAD:refs/heads/work");
      // Both within seconds, so that the times of packed-refs and HEAD are those of a clone.
      git(bare, "pack-refs", "--all");
      git(bare, "branch", "--move", "main", "trunk");
      expect(await unsaved()).toMatchObject({ nested: [{ path: "ignored/cache.git", commits: 2 }] });
    },
  );

  test("does not count if it is bare and its files are committed in the worktree", async () => {
    const bare = join(repository, "fixture");
    git(repository, "clone", "--quiet", "--bare", repository, bare);
    git(bare, "remote", "remove", "origin");
    // A commit contains no empty directory: without this file, the fixture would have no refs.
    git(bare, "update-ref", "refs/heads/loose", "main");
    commit(repository, "fixture");
    path = await addTree("ben");
    expect(existsSync(join(path, "fixture/refs/heads/loose"))).toBe(true);
    expect(await unsavedIn(path, "teams/review/ben", ENV)).toBeUndefined();
  });

  test("counts files that only its own info/exclude ignores, separately from untracked files", async () => {
    const top = nest("first");
    appendFileSync(join(top, ".git/info/exclude"), "notes\n");
    writeFileSync(join(top, "notes"), "1\n");
    const work = { path: "ignored/first", changed: 0, untracked: 0, ignored: 1, commits: 0 };
    expect(await unsaved()).toEqual({ ...CHANGED, changed: 0, nested: [work] });
  });

  test("keeps the worktree if its changes cannot be counted: another worktree, a git directory elsewhere", async () => {
    const other = join(path, "ignored/tree");
    git(path, "worktree", "add", "--quiet", "--detach", other);
    await expect(unsaved()).rejects.toThrow(/ignored\/tree/);
    git(path, "worktree", "remove", other);
    git(path, "clone", "--quiet", "--separate-git-dir", join(base, "elsewhere"), repository, other);
    await expect(unsaved()).rejects.toThrow(/ignored\/tree/);
    // A .git file that leads nowhere, as in a published package, does not make a repository.
    writeFileSync(join(other, ".git"), "gitdir: ../../nowhere\n");
    expect(await unsaved()).toBeUndefined();
  });

  const notUtf8 = (): Buffer => {
    const below = Buffer.concat([Buffer.from(join(path, "ignored/d")), Buffer.from([0xff])]);
    mkdirSync(join(path, "ignored"), { recursive: true });
    mkdirSync(below);
    return below;
  };

  // macOS refuses such names.
  test.skipIf(platform() === "darwin")("keeps the worktree if its path is not UTF-8", async () => {
    const first = nest("first");
    const below = notUtf8();
    expect(await unsaved()).toBeUndefined();
    renameSync(first, Buffer.concat([below, Buffer.from("/first")]));
    await expect(unsaved()).rejects.toThrow(/ignored\/d\uFFFD\/first\/\.git cannot be read/);
  });

  test.skipIf(platform() === "darwin")(
    "keeps the worktree if it is bare and its path is not UTF-8",
    async () => {
      const below = notUtf8();
      const inside = (name: string): Buffer => Buffer.concat([below, Buffer.from(`/${name}`)]);
      mkdirSync(inside("objects"));
      expect(await unsaved()).toBeUndefined();
      const bare = join(path, "ignored/own.git");
      git(path, "init", "--quiet", "--bare", bare);
      renameSync(bare, inside("own.git"));
      await expect(unsaved()).rejects.toThrow(/ignored\/d\uFFFD\/own\.git\/objects cannot be read/);
    },
  );
});
