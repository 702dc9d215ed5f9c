import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isPlainRepository } from "../../../../src/agent/permissions/commands/git-config.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const git = (cwd: string, ...words: string[]): string =>
  execFileSync("git", words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

/** Creates a repository with one commit. */
function repository(directory = realpathSync(temporaryDirectory())): string {
  mkdirSync(directory, { recursive: true });
  git(directory, "init", "-q");
  writeFileSync(join(directory, "a"), "a\n");
  git(directory, "add", "a");
  git(directory, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "a");
  return directory;
}

test("isPlainRepository › accepts a new repository, its worktrees and its remotes", () => {
  const main = repository();
  git(main, "remote", "add", "origin", "https://example.org/a.git");
  git(main, "worktree", "add", "-q", "linked");
  mkdirSync(join(main, "sub"));
  for (const directory of [main, join(main, "sub"), join(main, "linked")]) {
    for (const what of ["objects", "worktree"] as const)
      expect(isPlainRepository(directory, what)).toBe(true);
  }
});

test("isPlainRepository › refuses a configuration whose program git status runs", () => {
  const main = repository();
  const marker = join(main, "ran");
  git(main, "config", "core.fsmonitor", `touch ${marker}; false`);
  git(main, "status");
  expect(existsSync(marker)).toBe(true);
  for (const what of ["objects", "worktree"] as const) expect(isPlainRepository(main, what)).toBe(false);
});

test.each([
  "[diff]\n external = x",
  '[diff "a"]\n textconv = x',
  "[diff.a]\n command = x",
  "[log]\n showSignature = true",
  "[gpg] program = x",
  "[include]\n path = x",
  '[includeIf "gitdir:x"]\n path = x',
  '[remote "a"]\n promisor = true',
  "[core]\n pager = x",
  "[core] sshCommand = x",
  '[filter "x"]\n clean = x',
  "[user]\n name = a \\\n",
  "[core]\n quotepath = a\n  # \\\n[alias]\n log = !x",
])("isPlainRepository › refuses a configuration with %j", (text) => {
  const main = repository();
  appendFileSync(join(main, ".git/config"), `\n${text}\n`);
  expect(isPlainRepository(main, "objects")).toBe(false);
});

test("isPlainRepository › refuses a hook that git status runs, but only for commands that update the index", () => {
  const main = repository();
  const marker = join(main, "ran");
  writeFileSync(join(main, ".git/hooks/post-index-change"), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o700 });
  expect(isPlainRepository(main, "worktree")).toBe(false);
  expect(isPlainRepository(main, "objects")).toBe(true);
  git(main, "log", "-p");
  expect(existsSync(marker)).toBe(false);
});

test("isPlainRepository › refuses a repository with a nested one, whose configuration git status reads too", () => {
  const main = repository();
  const nested = repository(join(main, "nested"));
  const marker = join(main, "ran");
  expect(isPlainRepository(main, "worktree")).toBe(true);
  git(main, "add", "nested");
  git(nested, "config", "core.fsmonitor", `touch ${marker}; false`);
  git(main, "status");
  expect(existsSync(marker)).toBe(true);
  expect(isPlainRepository(main, "worktree")).toBe(false);
});

test("isPlainRepository › refuses a directory that git takes for a bare repository", () => {
  const top = realpathSync(temporaryDirectory());
  git(top, "init", "-q", "--bare");
  expect(isPlainRepository(top, "objects")).toBe(false);
});
