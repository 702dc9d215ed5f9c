import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import { git } from "../../../support/files/git.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

/** A home directory with a repository `main` with one commit. */
function homeWithRepository() {
  const home = realpathSync(temporaryDirectory());
  const main = join(home, "main");
  git(home, "init", "-q", "main");
  git(main, "commit", "-q", "--allow-empty", "-m", "a");
  return { home, main };
}

interface Directories {
  readonly home: string;
  readonly cwd: string;
  /** An additional working directory. */
  readonly also?: string;
}

/** Returns the ways to write a file that do not cause a question that only a person may answer. */
function unguarded(path: string, { home, cwd, also }: Directories): string[] {
  const question = {
    mode: "acceptEdits" as const,
    rules: { allow: ["Bash", "Write", "Edit"], ask: [], deny: [] },
    workingDirs: [cwd, home, ...(also === undefined ? [] : [also])],
    home,
  };
  const lines = [`cp a ${path}`, `echo x > ${path}`, `for i in 1; do tee ${path} < a; done`];
  const calls = [
    { tool: "Write", access: { kind: "write", paths: [path] } as const },
    ...lines.map((command) => ({
      tool: "Bash",
      access: { kind: "command", command } as const,
      line: readShellLine(command),
    })),
  ];
  return calls
    .filter((call) => decidePermission({ ...question, ...call }).guarded !== true)
    .map(({ tool, access }) => (access.kind === "command" ? access.command : tool));
}

test("a git directory › is guarded if it belongs to the main worktree of a linked one", () => {
  const { home, main } = homeWithRepository();
  const cwd = join(home, "linked");
  git(main, "worktree", "add", "-q", cwd);
  for (const path of ["config", "hooks/pre-commit", "worktrees/linked/config.worktree"])
    expect(unguarded(join(main, ".git", path), { home, cwd })).toEqual([]);
  expect(unguarded(join(cwd, ".git"), { home, cwd })).toEqual([]);
  expect(unguarded(join(cwd, "src/a.ts"), { home, cwd })).not.toEqual([]);
});

test("a git directory › is guarded under any name, from each worktree and below it", () => {
  const { home, main } = homeWithRepository();
  git(home, "clone", "-q", "--bare", main, "store");
  const linked = join(home, "linked");
  git(join(home, "store"), "worktree", "add", "-q", linked);
  mkdirSync(join(linked, "deep/er"), { recursive: true });
  for (const cwd of [linked, join(linked, "deep/er")])
    for (const path of ["config", "hooks/post-checkout", "worktrees/linked/commondir", "info/attributes"])
      expect(unguarded(join(home, "store", path), { home, cwd }), path).toEqual([]);
});

test.each([
  ["with a relative path", "../modules/sub"],
  ["with an absolute path", undefined],
])("a git directory › is guarded if a file names it, as in a submodule, %s", (_, named) => {
  const { home, main } = homeWithRepository();
  const admin = join(home, "modules/sub");
  const cwd = join(home, "sub");
  mkdirSync(join(home, "modules"));
  git(home, "clone", "-q", "--separate-git-dir", admin, main, "sub");
  if (named !== undefined) writeFileSync(join(cwd, ".git"), `gitdir: ${named}\n`);
  for (const path of ["config", "hooks/pre-commit"])
    expect(unguarded(join(admin, path), { home, cwd })).toEqual([]);
  symlinkSync(admin, join(cwd, "link"));
  expect(unguarded(join(cwd, "link/config"), { home, cwd })).toEqual([]);
});

test("core.hooksPath › is guarded if the repository sets it, even from a linked worktree", () => {
  const { home, main } = homeWithRepository();
  const linked = join(home, "linked");
  git(main, "worktree", "add", "-q", linked);
  git(main, "config", "core.hooksPath", "tools/hooks");
  for (const cwd of [main, linked])
    expect(unguarded(join(cwd, "tools/hooks/pre-commit"), { home, cwd })).toEqual([]);
});

test.each([
  ["after a comment", "[core]\n# hooksPath = other\n\thooksPath = HOOKS ; why"],
  ["in quotes", '[core]\n\thooksPath = "HOOKS"'],
  ["in other letter case", "[CORE]\n\tHooksPath=HOOKS"],
  ["on the line of its section", "[core] hooksPath = HOOKS"],
  ["twice", "[core]\n\thooksPath = other\n\thooksPath = HOOKS"],
])("core.hooksPath › is guarded if the repository sets it %s", (_, text) => {
  const { home, main: cwd } = homeWithRepository();
  writeFileSync(join(cwd, ".git/config"), `[core]\n\tbare = false\n${text.replace("HOOKS", "../myhooks")}\n`);
  expect(realpathSync(join(cwd, git(cwd, "rev-parse", "--git-path", "hooks"), ".."))).toBe(home);
  expect(unguarded(join(home, "myhooks/pre-commit"), { home, cwd })).toEqual([]);
});

test("core.hooksPath › is guarded if only a worktree sets it", () => {
  const { home, main: cwd } = homeWithRepository();
  git(cwd, "config", "extensions.worktreeConfig", "true");
  git(cwd, "config", "--worktree", "core.hooksPath", "../myhooks");
  expect(unguarded(join(home, "myhooks/pre-commit"), { home, cwd })).toEqual([]);
});

test.each([
  ["~/.gitconfig", ".gitconfig", "[core]\n\thooksPath = ~/myhooks\n"],
  ["~/.config/git/config", ".config/git/config", "[core]\n\thooksPath = ~/myhooks\n"],
  ["a file that it includes", ".gitconfig", "[include]\n\tpath = own\n"],
])("core.hooksPath › is guarded if the user sets it in %s", (_, file, text) => {
  const { home, main: cwd } = homeWithRepository();
  mkdirSync(join(home, ".config/git"), { recursive: true });
  writeFileSync(join(home, "own"), "[core]\n\thooksPath = ~/myhooks\n");
  writeFileSync(join(home, file), text);
  for (const at of [cwd, home])
    expect(unguarded(join(home, "myhooks/pre-commit"), { home, cwd: at })).toEqual([]);
});

test("core.hooksPath › is guarded in each repository if the user sets a relative path", () => {
  const { home, main: cwd } = homeWithRepository();
  writeFileSync(join(home, ".gitconfig"), "[core]\n\thooksPath = .githooks\n");
  mkdirSync(join(cwd, "deep"));
  for (const at of [cwd, join(cwd, "deep")])
    expect(unguarded(join(cwd, ".githooks/pre-commit"), { home, cwd: at })).toEqual([]);
});

test("include.path › is guarded, because git reads that file", () => {
  const { home, main: cwd } = homeWithRepository();
  git(cwd, "config", "include.path", "../shared.config");
  expect(unguarded(join(cwd, "shared.config"), { home, cwd })).toEqual([]);
});

test("core.hooksPath › is guarded for an additional working directory", () => {
  const { home, main: also } = homeWithRepository();
  const cwd = join(home, "work");
  mkdirSync(cwd);
  git(also, "config", "core.hooksPath", "tools/hooks");
  expect(unguarded(join(also, "tools/hooks/pre-commit"), { home, cwd, also })).toEqual([]);
});

test("an archive's configuration › is checked to its end even if it includes an endless file, or itself", () => {
  const { home, main: cwd } = homeWithRepository();
  const included = ["/dev/zero", "config", "../none", ".."].map((path) => `\tpath = ${path}\n`);
  writeFileSync(join(cwd, ".git/config"), `[core] hooksPath = ../myhooks\n[include]\n${included.join("")}`);
  expect(unguarded(join(home, "myhooks/pre-commit"), { home, cwd })).toEqual([]);
});
