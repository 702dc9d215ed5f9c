import { appendFileSync, existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { guardedGitEnv } from "../../src/git/git.ts";
import { unsavedIn } from "../../src/git/unsaved.ts";
import { addWorktree, changesInWorktree, type Worktree } from "../../src/git/worktree.ts";
import { GIT_IDENTITY, git } from "../support/files/git.ts";
import { temporaryDirectory } from "../support/files/temporary-directory.ts";

const ENV = guardedGitEnv({ ...process.env, ...GIT_IDENTITY });

let top: string;
let repository: string;
let marker: string;

beforeEach(() => {
  top = realpathSync(temporaryDirectory());
  marker = join(top, "ran");
  repository = join(top, "repository");
  create(repository);
});

/** Creates a repository with one commit. */
function create(directory: string): void {
  mkdirSync(directory, { recursive: true });
  git(directory, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(directory, "a"), "a\n");
  git(directory, "add", "a");
  git(directory, "commit", "--quiet", "--message", "a");
}

function add(name = "ada"): Promise<Worktree> {
  return addWorktree({ from: repository, name, branch: `teams/${name}`, branchIsGiven: false, env: ENV });
}

/** A configuration whose filter runs a program for each file, in either direction. */
const filter = (): string =>
  `[filter "x"]\n clean = touch ${marker}; cat\n smudge = touch ${marker}; cat\n[core]\n attributesFile = ${join(top, "attributes")}\n`;

/** Changes that a command in a sandbox can make to a repository, before git runs outside. */
describe("git for a model › runs no program that a command of the agent has prepared", () => {
  beforeEach(() => writeFileSync(join(top, "attributes"), "* filter=x\n"));

  test("in a submodule of a worktree", async () => {
    const { path } = await add();
    const nested = join(path, "nested");
    create(nested);
    git(path, "add", "nested");
    git(path, "commit", "--quiet", "--message", "nested");
    appendFileSync(join(nested, ".git/config"), filter());
    writeFileSync(join(nested, "a"), "b\n");
    expect((await changesInWorktree(path, ENV, repository)).changed).toBe(0);
    await expect(unsavedIn(path, undefined, ENV, repository)).rejects.toThrow("may make git run programs");
    expect(existsSync(marker)).toBe(false);
    git(path, "status");
    expect(existsSync(marker)).toBe(true);
  });

  test("by a commondir in the repository", async () => {
    create(join(top, "evil"));
    appendFileSync(join(top, "evil/.git/config"), filter());
    writeFileSync(join(repository, ".git/commondir"), join(top, "evil/.git"));
    await expect(add()).rejects.toThrow("commondir");
    expect(existsSync(marker)).toBe(false);
  });

  test("by the configuration of one worktree", async () => {
    git(repository, "config", "extensions.worktreeConfig", "true");
    const { path } = await add();
    writeFileSync(join(repository, ".git/worktrees/ada/config.worktree"), filter());
    writeFileSync(join(path, "a"), "b\n");
    await expect(unsavedIn(path, undefined, ENV, repository)).rejects.toThrow("config.worktree");
    expect(existsSync(marker)).toBe(false);
  });

  test.each([
    ["after another section in one line", () => `[core] ${filter()}`],
    ["below much text", () => `${"# padding\n".repeat(120_000)}${filter()}`],
  ])("by the configuration of one worktree, %s", async (_, config) => {
    git(repository, "config", "extensions.worktreeConfig", "true");
    const { path } = await add();
    writeFileSync(join(repository, ".git/worktrees/ada/config.worktree"), config());
    writeFileSync(join(path, "a"), "b\n");
    await expect(unsavedIn(path, undefined, ENV, repository)).rejects.toThrow("config.worktree");
    expect(existsSync(marker)).toBe(false);
    git(path, "status");
    expect(existsSync(marker)).toBe(true);
  });

  test("in another directory that the configuration of one worktree names", async () => {
    git(repository, "config", "extensions.worktreeConfig", "true");
    const { path } = await add();
    const elsewhere = `[core]\n worktree = ${repository}\n`;
    writeFileSync(join(repository, ".git/worktrees/ada/config.worktree"), elsewhere);
    expect(git(path, "rev-parse", "--show-toplevel").trim()).toBe(repository);
    await expect(unsavedIn(path, undefined, ENV, repository)).rejects.toThrow("config.worktree");
  });

  test("in another repository at the place of a worktree", async () => {
    const { path } = await add();
    create(join(top, "evil"));
    renameSync(path, `${path}-before`);
    git(join(top, "evil"), "worktree", "add", "--quiet", path);
    appendFileSync(join(top, "evil/.git/config"), filter());
    writeFileSync(join(path, "a"), "b\n");
    await expect(unsavedIn(path, undefined, ENV, repository)).rejects.toThrow("no longer a worktree");
    expect(existsSync(marker)).toBe(false);
  });
});
