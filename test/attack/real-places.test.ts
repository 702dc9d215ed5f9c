import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { BackgroundTasks } from "../../src/agent/background/background-tasks.ts";
import { localRemotesAt } from "../../src/agent/permissions/commands/git-config.ts";
import { decidePermission } from "../../src/agent/permissions/decide.ts";
import { mayFindNewRepository } from "../../src/agent/permissions/other-repositories.ts";
import { readShellLine } from "../../src/agent/permissions/shell-line.ts";
import { bashTool } from "../../src/agent/tools/bash.ts";
import { GIT_IDENTITY, git } from "../support/files/git.ts";
import { temporaryDirectory } from "../support/files/temporary-directory.ts";

let top: string;
let project: string;

beforeEach(() => {
  top = realpathSync(temporaryDirectory());
  project = join(top, "project");
  mkdirSync(join(project, "sub/low"), { recursive: true });
  mkdirSync(join(top, "home"));
  git(project, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(project, "sub/x.json"), "{}");
  writeFileSync(join(project, "a"), "");
});

/** Creates a bare repository whose configuration names a program. */
function createBare(directory: string): void {
  for (const name of ["objects", "refs"]) mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(join(directory, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(directory, "config"), "[core]\n\tfsmonitor = ./x\n");
}

/** Decides a line with the real files of the project. */
function decide(
  command: string,
  allow: readonly string[],
  deny: readonly string[] = [],
  cwd = project,
): string {
  const { behavior, guarded } = decidePermission({
    mode: "default",
    tool: "Bash",
    access: { kind: "command", command },
    line: readShellLine(command),
    rules: { allow, ask: [], deny },
    workingDirs: [cwd],
    home: join(top, "home"),
  });
  return guarded ? "guarded" : behavior;
}

test.each([
  "cd evil && git status",
  "cd ./evil; git log",
  "cd -P evil && git status",
  "pushd evil && git status",
  "cd e*l && git status",
  "cd link && git status",
  "cd outside && git status",
  "(cd evil && git status)",
])("decidePermission › asks for git in a repository that names a program: %s", (line) => {
  createBare(join(project, "evil"));
  createBare(join(top, "other/.git"));
  mkdirSync(join(top, "other/sub"));
  symlinkSync("evil", join(project, "link"));
  symlinkSync(join(top, "other/sub"), join(project, "outside"));
  for (const more of [["Bash(cd:*)", "Bash(pushd:*)"], []]) {
    expect(decide(line, ["Bash(git status:*)", "Bash(git log:*)", ...more])).toBe("ask");
  }
  expect(decide("cd sub && git status", ["Bash(git status:*)"])).toBe("allow");
});

test("decidePermission › sees a directory that a line moves or removes through a link", () => {
  symlinkSync("..", join(project, "up"));
  symlinkSync("sub", join(project, "link"));
  expect(decide("rm -rf up/project", ["Bash"])).toBe("guarded");
  expect(decide("rm -rf up/project/other", ["Bash"])).toBe("allow");
  for (const rule of ["Edit(sub/x.json)", "Edit(link/x.json)"])
    expect(decide("mv up/project/sub x", ["Bash"], [rule])).toBe("deny");
});

test.each([
  "mv evil x && cd x && git status",
  "mv evi? x; cd x; git log",
  "ln -s evil x; cd x; git log",
  "git mv evil x; cd x; git status",
  "git checkout other && cd new && git status",
  "cd evil && /usr/bin/git status",
  "cd evil; timeout 60 git log",
])("decidePermission › asks for git in a directory that the line creates, by any name of git: %s", (line) => {
  createBare(join(project, "evil"));
  const programs = [
    "mv",
    "ln",
    "git mv",
    "git status",
    "git log",
    "git checkout",
    "/usr/bin/git",
    "timeout 60 git log",
  ];
  const allow = programs.map((program) => `Bash(${program}:*)`);
  // Moving a repository also changes files that only a person may change.
  expect(decide(line, allow)).toBe(line.startsWith("mv evil") ? "guarded" : "ask");
  expect(decide("mv a b; cd sub && git status", allow)).toBe("allow");
});

test("decidePermission › asks for git if the working directory is in a bare repository among other files", () => {
  const [evil, own] = [join(project, "evil"), join(top, "own.git")];
  for (const directory of [evil, own]) createBare(directory);
  mkdirSync(join(evil, "deep"));
  const inDirectory = (cwd: string): string => decide("git status", ["Bash(git status:*)"], [], cwd);
  for (const cwd of [evil, join(evil, "deep")]) expect(inDirectory(cwd)).toBe("ask");
  for (const cwd of [own, project, join(project, "sub")]) expect(inDirectory(cwd)).toBe("allow");
});

const [, major, minor] = /(\d+)\.(\d+)/.exec(git(".", "--version")) ?? [];
/** Git before 2.38 does not know the setting. */
const knowsBareRepositories = Number(major) > 2 || Number(minor) >= 38;

/**
 * Creates a branch `evil`, on which the directory `sub` is a bare repository whose configuration names a program.
 * @returns a function that tells whether the program has run
 */
function withEvilBranch(): () => boolean {
  const ran = join(top, "ran");
  const commit = (message: string): void => {
    git(project, "add", ".");
    git(project, "commit", "--quiet", "--message", message);
  };
  commit("main");
  git(project, "checkout", "--quiet", "-b", "evil");
  createBare(join(project, "sub"));
  for (const name of ["objects/x", "refs/x"]) writeFileSync(join(project, "sub", name), "");
  const core = ["repositoryformatversion = 1", "bare = false", "worktree = .", `fsmonitor = touch ${ran}`];
  writeFileSync(join(project, "sub/config"), `[core]\n\t${core.join("\n\t")}\n`);
  commit("evil");
  git(project, "checkout", "--quiet", "main");
  return () => existsSync(ran);
}

/** Runs a line with the Bash tool in the project. @returns the result for the model */
async function output(command: string): Promise<string> {
  const { content } = await bashTool.execute(
    { command },
    {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: join(top, "home"), ...GIT_IDENTITY },
      signal: new AbortController().signal,
      seenFiles: new Map(),
      background: new BackgroundTasks({ cwd: project, secrets: [] }),
    },
  );
  return content;
}

test
  .skipIf(!knowsBareRepositories)
  .each([
    "git checkout -q evil && cd sub && git status",
    "git switch -q evil; git -C sub status",
    "cd sub; git checkout -q evil; git status",
  ])("Bash › runs no program of a repository that a branch brings in the same line: %s", async (line) => {
  const hasRun = withEvilBranch();
  expect(await output(line)).toContain("cannot use bare repository");
  expect(hasRun()).toBe(false);
  git(join(project, "sub"), "status");
  expect(hasRun()).toBe(true);
});

test("Bash › uses repositories and worktrees after git has changed files in the same line", async () => {
  withEvilBranch();
  const worktree = "git worktree add -q ../linked && cd ../linked && git log --format=%s";
  expect(await output(`git checkout -q main && cd sub && git status --short && ${worktree}`)).toBe("main");
});

test.each([
  ["git pull && git log", true],
  ["git checkout x && cd a && npm test", true],
  ["while git pull; do cd sub; done", true],
  ["sh -c 'git checkout x; git status'", true],
  ["timeout 60 git switch x; /usr/bin/git status", true],
  ["git pull", false],
  ["git pull && npm test", false],
  ["git checkout -b x && git status", false],
  ["git init --bare a && cd a && git log", false],
])("mayFindNewRepository › answers %j with %s", (line, expected) => {
  expect(mayFindNewRepository(readShellLine(line))).toBe(expected);
});

test("decidePermission › asks for a name that is too long to look up", () => {
  expect(decide(`touch ${"a".repeat(300)}/HEAD`, ["Bash"])).toBe("guarded");
  expect(decide(`touch ${"a".repeat(300)}/b`, ["Bash"])).toBe("allow");
});

test("decidePermission › asks for a push to a remote that is a directory, or to a file that names one", () => {
  const allow = ["Bash(git push:*)"];
  git(project, "remote", "add", "origin", "https://example.org/a.git");
  expect(decide("git push", allow)).toBe("allow");
  writeFileSync(join(project, "gitfile"), "gitdir: evil\n");
  expect(decide("git push gitfile main", allow)).toBe("ask");
  git(project, "remote", "add", "backup", "../backup");
  expect(decide("git push backup main", allow)).toBe("ask");
  expect(decide("git push", allow)).toBe("ask");
  expect(decide("git push -o x", allow)).toBe("ask");
  expect(decide("git push -o x backup main", allow)).toBe("ask");
  expect(decide("git push -qo x backup", allow)).toBe("ask");
  expect(decide("git push origin main", allow)).toBe("allow");
  expect(decide("git push -o backup origin main", allow)).toBe("allow");
  expect(decide("git push backup main", ["Bash(git push backup main)"])).toBe("allow");
});

test.each([
  ['[remote "a"]\n\turl = /srv/a\n', ["a"]],
  ['[remote "a"]\n\turl = ../a\n', ["a"]],
  ['[remote "a"]\n\turl = file:///srv/a\n', ["a"]],
  ['[remote "a"]\n\turl = git@example.org:a.git\n\tpushurl = ./a\n', ["a"]],
  ['[branch "a"]\n\tremote = ../a\n', [""]],
  ['[url "/srv/"]\n\tinsteadOf = https://example.org/\n', [""]],
  ['[remote "a"]\n\turl = https://example.org/a\n[branch "b"]\n\tremote = a\n\tmerge = refs/heads/b\n', []],
  ['[branch "a"]\n\tremote = .\n', []],
])("localRemotesAt › reads the configuration %j", (config, names) => {
  writeFileSync(join(project, ".git/config"), config);
  expect(localRemotesAt(join(project, "sub"))).toEqual(names);
});

test.each([
  ["cat low/../x.json", "deny"],
  ["cat low2/../x.json", "deny"],
  ["cat s?/x.json", "deny"],
  ["cd low2/.. && cat x.json", "deny"],
  ["cd l*2; cat ../x.json", "deny"],
  ["cp a hooks/../config", "guarded"],
  ["cat sub/low/../y.json", "allow"],
])("decidePermission › follows the links of real files: %s", (line, expected) => {
  symlinkSync("sub/low", join(project, "low"));
  symlinkSync("low", join(project, "low2"));
  symlinkSync("sub", join(project, "s1"));
  symlinkSync(".git/hooks", join(project, "hooks"));
  expect(decide(line, ["Bash"], ["Read(sub/x.json)", "Edit(sub/x.json)"])).toBe(expected);
});
