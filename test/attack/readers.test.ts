import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { decidePermission } from "../../src/agent/permissions/decide.ts";
import { NO_RULES } from "../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../src/agent/permissions/shell-line.ts";
import { hasBubblewrap, hasShell, type Throwaway, throwaway } from "../support/attack/throwaway.ts";

/** Decides a line with the real files of a directory. */
function decided(command: string, { work }: Throwaway, allow: readonly string[] = []): string {
  return decidePermission({
    mode: "default",
    tool: "Bash",
    access: { kind: "command", command },
    line: readShellLine(command),
    rules: { ...NO_RULES, allow },
    workingDirs: [work],
    home: dirname(work),
  }).behavior;
}

/** Runs a line in a real shell. @returns what it printed */
function printed(command: string, place: Throwaway, shell = "bash"): string {
  place.run(shell, `{ ${command}; } > ../bin/printed 2>&1`);
  const file = join(place.bin, "printed");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function write(place: Throwaway, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.work, name)), { recursive: true });
    writeFileSync(join(place.work, name), text);
  }
}

function git(directory: string, ...words: string[]): void {
  execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@y", ...words], {
    cwd: directory,
    stdio: "ignore",
  });
}

function repository(place: Throwaway): void {
  git(place.work, "init", "-q");
  write(place, { a: "a\n", list: "a\n" });
  git(place.work, "add", ".");
  git(place.work, "commit", "-qm", "a");
}

test
  .skipIf(!hasBubblewrap)
  .each([
    "od -c -w ../outside",
    "date -I --file=../outside",
    "strings @words",
    "diff -r empty links",
    "diff outside links",
    "cat l*/outside",
    "cd up* && cat outside",
    "cd deep/../.. && cat outside",
    "cd deep/../.. && cat ./outs*",
    "git blame -S ../outside a",
    "git blame --abbrev --contents=../outside a",
    "awk 1 -v ../outside",
  ])("a line that prints a file outside › needs approval, though its program only reads: %s", (line) => {
  const place = throwaway();
  repository(place);
  write(place, { words: "../outside\n", "-v": "", "empty/outside": "", outside: "", "b/c/d/x": "" });
  mkdirSync(join(place.work, "links"));
  symlinkSync("../../outside", join(place.work, "links/outside"));
  symlinkSync("b/c/d", join(place.work, "deep"));
  symlinkSync("..", join(place.work, "up"));
  expect(printed(line, place).replaceAll(/\s/g, "")).toContain("untouched");
  expect(decided(line, place)).toBe("ask");
});

test.skipIf(!hasBubblewrap).each([
  ["git log -U --output=ran", "ran"],
  ["git log --unified --output=ran", "ran"],
  ["git diff --min-parents --output=ran", "ran"],
  ["git stash -- list", ".git/refs/stash"],
  ["git stash -q -- list", ".git/refs/stash"],
  ["find [-]exec sh run.sh {} +", "ran"],
  ["find [-]fprint ran", "ran"],
])("a line that writes › needs approval, though its program usually only reads: %s", (line, written) => {
  const place = throwaway();
  repository(place);
  write(place, { list: "b\n", "-exec": "", "-fprint": "", "run.sh": "touch ran\n" });
  printed(line, place);
  expect(place.exists(written)).toBe(true);
  expect(decided(line, place)).toBe("ask");
});

test.skipIf(!hasBubblewrap)("git › is not run unasked if a long configuration names a program", () => {
  const place = throwaway();
  repository(place);
  git(place.work, "config", "extensions.worktreeConfig", "true");
  expect(decided("git status", place)).toBe("allow");
  const padding = "# long\n".repeat(200_000);
  write(place, { ".git/config.worktree": `${padding}[core]\n fsmonitor = touch ran\n` });
  printed("git status", place);
  expect(place.exists("ran")).toBe(true);
  expect(decided("git status", place)).toBe("ask");
});

test.skipIf(!hasBubblewrap)("an allow rule › does not cover a file whose name is an option", () => {
  const place = throwaway();
  write(place, { "-oran": "", a: "", "sub/b": "" });
  printed("sort [-]o* a", place);
  expect(place.exists("ran")).toBe(true);
  for (const line of ["sort [-]o* a", "sort *", "cd sub && cd .. && sort *"]) {
    expect(decided(line, place, ["Bash(sort:*)", "Bash(cd:*)"]), line).toBe("ask");
  }
  for (const line of ["sort ./*", "sort sub/*", "sort a*"])
    expect(decided(line, place, ["Bash(sort:*)"]), line).toBe("allow");
});

test.skipIf(!hasBubblewrap).each([
  ["deep entries in commondir", "sub", "sub/config.worktree", "[core]\n bare = false\n worktree = .\n"],
  ["a .git that is no repository", "other", "other/.git/config", "[core]\n bare = false\n"],
] as const)("git › is not run unasked if it takes a directory for a repository: %s", (_, at, file, text) => {
  const place = throwaway();
  repository(place);
  const program = "[core]\n repositoryformatversion = 1\n fsmonitor = touch ../ran\n";
  write(place, {
    "sub/HEAD": "ref: refs/heads/main\n",
    "sub/commondir": "evil\n",
    "sub/evil/objects/x": "",
    "sub/evil/refs/x": "",
    "sub/evil/config": `${program}[extensions]\n worktreeConfig = true\n`,
    "other/HEAD": "ref: refs/heads/main\n",
    "other/objects/x": "",
    "other/refs/x": "",
    "other/config": `${program} bare = false\n worktree = .\n`,
    [file]: text,
  });
  printed(`cd ${at} && git status`, place);
  expect(place.exists("ran")).toBe(true);
  expect(decided(`cd ${at} && git status`, place)).toBe("ask");
  expect(decided("git status", place)).toBe("allow");
});

test("git › is not run unasked in a repository of the home directory, or with objects of another repository", () => {
  const place = throwaway();
  git(dirname(place.work), "init", "-q");
  expect(decided("git show HEAD", place)).toBe("ask");
  const other = throwaway();
  repository(other);
  expect(decided("git show HEAD", other)).toBe("allow");
  write(other, { ".git/objects/info/alternates": "/tmp/x/objects\n" });
  expect(decided("git show HEAD", other)).toBe("ask");
  const forged = throwaway();
  write(forged, { ".git": `gitdir: ${join(other.work, ".git")}\n` });
  expect(decided("git log", forged)).toBe("ask");
});

test("git › asks before it runs in a bare repository that a line enters, whatever rule allows it", () => {
  const place = throwaway();
  repository(place);
  write(place, { "b/HEAD": "ref: refs/heads/main\n", "b/config": "[core]\n", "src/a": "" });
  for (const name of ["objects", "refs"]) mkdirSync(join(place.work, "b", name));
  const rules = ["Bash(git log:*)", "Bash(git status:*)"];
  for (const line of ["cd b && git status", "cd b && git log -p", "cd src/../b; git log"])
    expect(decided(line, place, rules), line).toBe("ask");
  for (const line of ["cd src && git status", "cd src && git log -p", "git log"])
    expect(decided(line, place, rules), line).toBe("allow");
});

test("git › is not run unasked if its configuration is a device, which is not read", () => {
  const place = throwaway();
  repository(place);
  rmSync(join(place.work, ".git/config"));
  symlinkSync("/dev/zero", join(place.work, ".git/config"));
  expect(decided("git log", place)).toBe("ask");
  expect(decided("tee b", place, ["Bash(tee:*)"])).toBe("allow");
});

test("git › is not run unasked if the user's relative core.hooksPath leads to a hook of the repository", () => {
  const place = throwaway();
  repository(place);
  writeFileSync(join(dirname(place.work), ".gitconfig"), "[core]\n hooksPath = .githooks\n");
  expect(decided("git status", place)).toBe("allow");
  write(place, { ".githooks/post-index-change": "" });
  expect(decided("git status", place)).toBe("ask");
  // The same directory is protected.
  expect(decided("cp a .githooks/pre-commit", place, ["Bash(cp:*)"])).toBe("ask");
});

test.skipIf(!hasShell("bash"))("a pattern › is decided like the files that it matches", () => {
  const place = throwaway();
  write(place, { "a.txt": "", "b.txt": "", ".env": "", "src/c.ts": "" });
  for (const line of [
    "cat *.txt",
    "wc -l */*.ts",
    "ls *",
    "grep -rn x --include=*.ts src",
    "head -5 [ab].txt",
    "[ -d src ]",
  ])
    expect(decided(line, place), line).toBe("allow");
  symlinkSync("../outside", join(place.work, "c.txt"));
  for (const line of ["cat *.txt", "ls *"]) expect(decided(line, place), line).toBe("ask");
});
