import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const SCRIPTS = fileURLToPath(new URL("../../../src/playbooks/audit/", import.meta.url));
const MARKER = "<!-- written by teams: audit -->\n";
/** Keeps the git settings of the user and of the machine out of the tests. */
const ENV = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" };

let top: string;
let repo: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "teams-audit-"));
  repo = join(top, "repo");
  mkdirSync(repo);
  git("init", "-q");
  git("config", "user.email", "a@example.org");
  git("config", "user.name", "A");
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function git(...args: string[]): string {
  return execFileSync("git", args, {
    cwd: repo,
    env: ENV,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function shell(command: string): string {
  return execFileSync("sh", ["-c", command], { cwd: repo, env: ENV, encoding: "utf8" }).trim();
}

function put(files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, name)), { recursive: true });
    writeFileSync(join(repo, name), content);
  }
}

function commit(message = "x"): void {
  git("add", "-A");
  git("commit", "-q", "-m", message);
}

interface Run {
  readonly status: number | null;
  readonly out: string;
}

function script(name: string, args: readonly string[] = [], cwd = repo, env: NodeJS.ProcessEnv = ENV): Run {
  const { status, stdout, stderr } = spawnSync("sh", [join(SCRIPTS, `${name}.sh`), ...args], {
    cwd,
    env,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  return { status, out: stdout };
}

/** Returns the value after `title: ` in a script's part of the report. */
function figure(name: string, title: string, cwd = repo): string | undefined {
  const { out } = script(name, [], cwd);
  return out
    .split("\n")
    .find((line) => line.startsWith(`    ${title}: `))
    ?.slice(title.length + 6);
}

/** Rows of the table, as [number, name]. */
function rows(name: string): [string, string][] {
  const table = script(name).out.split("\n\n")[1] ?? "";
  return table
    .split("\n")
    .slice(1)
    .filter((row) => row !== "")
    .map((row) => /^ +(\d+) {2}(.*)$/.exec(row)?.slice(1) as [string, string]);
}

const HOSTILE = [
  "plain.ts",
  "with space.md",
  "-rf",
  "--help.txt",
  "$(touch pwned).sh",
  "`touch pwned`.sh",
  "pipe|and;semi&amp.md",
  "'single' \"double\".md",
  "new\nline.py",
  "x\n    Tracked files: 99",
  "x\n# Heading <script>.md",
  "tab\tand\u001b[31mescape.c",
  "über-検査-🙂.txt",
  "right\u202eto-left.exe",
  "back\\slash.c",
  "[link](http://example.org).md",
  "a=b.awk",
  "\u0001.c",
];

describe("audit scripts › hostile file names", () => {
  beforeEach(() => {
    put(Object.fromEntries(HOSTILE.map((name, i) => [name, `${"line\n".repeat(i)}// TODO\n`])));
    commit();
  });

  test("give the figures of git ls-files, wc and grep", () => {
    expect(figure("inventory", "Tracked files")).toBe(String(HOSTILE.length));
    expect(shell("git ls-files | wc -l")).toBe(String(HOSTILE.length));
    expect(figure("inventory", "Lines of text")).toBe(shell("git ls-files -z | xargs -0 cat -- | wc -l"));
    expect(figure("todo", "Lines with TODO or FIXME")).toBe(
      `${shell("git ls-files -z | xargs -0 cat -- | grep -cE 'TODO|FIXME'")} in ${HOSTILE.length} files`,
    );
    const largest = HOSTILE.length - 1;
    expect(figure("largest", "Largest file")).toBe(
      `\\x01.c (${shell(`wc -c < "$(printf '\\001.c')"`)} bytes)`,
    );
    expect(largest * 5 + 8).toBe(Number(shell(`wc -c < "$(printf '\\001.c')"`)));
    expect(shell("ls")).not.toMatch(/^pwned$/m);
  });

  test("are shown in UTF-8, escaped, and as Markdown code lines", () => {
    const names = rows("largest").map(([, name]) => name);
    for (const shown of [
      "über-検査-🙂.txt",
      "new\\nline.py",
      "tab\\tand\\x1b[31mescape.c",
      "right\\u{202e}to-left.exe",
      "back\\slash.c",
      "'single' \"double\".md",
      "x\\n    Tracked files: 99",
    ])
      expect(names).toContain(shown);
    for (const name of ["inventory", "largest", "history", "todo", "tests", "about"]) {
      const lines = script(name).out.split("\n");
      expect(lines.filter((line) => line !== "" && !line.startsWith("    "))).toEqual([]);
      expect(lines.filter((line) => line.startsWith("    Tracked files: "))).toHaveLength(
        name === "inventory" ? 1 : 0,
      );
      expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
  });

  test("of Latin-1 bytes or 4,000 characters are escaped or truncated, and still counted", () => {
    writeFileSync(
      Buffer.concat([Buffer.from(`${repo}/caf`), Buffer.from([0xe9]), Buffer.from(".c")]),
      "x".repeat(9000),
    );
    const deep = Array.from({ length: 15 }, () => "d".repeat(200)).join("/");
    put({ [`${deep}/f.c`]: "y".repeat(8000) });
    commit();
    const [first, second] = rows("largest");
    expect(first).toEqual(["9000", "caf\\xe9.c"]);
    expect(second?.[1]).toMatch(/^d{200}\.\.\.$/);
  });

  test("survive the trip through a question to the script that counts commits", () => {
    const odd = 'very "odd"\n$(touch pwned) 検.c';
    put({ [odd]: "z".repeat(9999) });
    commit();
    put({ [odd]: "y".repeat(9998) });
    commit();
    const name = script("largest", ["--name"]).out.trim();
    expect(name).toMatch(/^[ -~]+$/);
    const question = `How many commits touched the largest file: ${name}`;
    expect(script("touched", [question]).out).toBe("The largest file was touched by 2 commits.\n");
    expect(script("touched", ["another message came behind it"]).out).toBe(
      "The largest file was touched by 2 commits.\n",
    );
  });
});

test("audit inventory › counts files and lines per language, by file extension", () => {
  put({
    "a.ts": "1\n2\n",
    "b/c.TSX": "1\n",
    Makefile: "x:\n",
    LICENSE: "1\n2\n3\n",
    "a.weird": "1\n",
    ".gitignore": "x\n",
  });
  commit();
  const table = script("inventory").out;
  for (const row of [
    / 3 +2 {2}TypeScript$/m,
    / 1 +1 {2}Make$/m,
    / 4 +2 {2}\(no ending\)$/m,
    / 1 +1 {2}\.weird$/m,
  ])
    expect(table).toMatch(row);
});

test("audit scripts › skip links and binary lines, report missing files and ignore the user's git settings", () => {
  put({ "a.c": "TODO\n", "bin.dat": Buffer.from("\0\0TODO\n"), "gone.c": "FIXME\n", empty: "" });
  symlinkSync("/dev/zero", join(repo, "endless"));
  symlinkSync("/nowhere", join(repo, "dangling"));
  commit();
  rmSync(join(repo, "gone.c"));
  put({ untracked: "TODO\n" });
  for (const [key, value] of [
    ["core.quotePath", "true"],
    ["color.ui", "always"],
    ["grep.lineNumber", "true"],
    ["grep.column", "true"],
    ["grep.patternType", "perl"],
    ["grep.fullName", "false"],
    ["log.showSignature", "true"],
    ["diff.noprefix", "true"],
    ["core.fsmonitor", `touch ${join(top, "pwned")}`],
  ])
    git("config", key ?? "", value ?? "");
  expect(script("inventory").out).toContain("    Tracked files: 6\n    Lines of text: 1\n");
  expect(script("inventory").out).toContain(
    "Symbolic links: 2, submodules: 0, missing from the working tree: 1\n",
  );
  expect(figure("todo", "Lines with TODO or FIXME")).toBe("1 in 1 file");
  expect(figure("largest", "Largest file")).toBe("bin.dat (7 bytes)");
  expect(() => readFileSync(join(top, "pwned"))).toThrow("ENOENT");
});

describe("audit history", () => {
  test("counts commits, authors and touches as git log does, and marks files that are no longer tracked", () => {
    for (let i = 0; i < 5; i += 1) {
      put({ "old.c": `${i}\n`, ...(i < 3 ? { "a file.c": `${i}\n` } : {}) });
      commit();
    }
    git("config", "user.email", "b@example.org");
    rmSync(join(repo, "old.c"));
    commit();
    const touched = shell(
      "git log --format= --name-only --no-renames | sort | uniq -c | sort -rn | awk '{print $1}'",
    );
    expect(rows("history").map(([count]) => count)).toEqual(touched.split("\n"));
    expect(rows("history")).toEqual([
      ["6", "old.c (no longer tracked)"],
      ["3", "a file.c"],
    ]);
    expect(figure("history", "Most touched file")).toBe("a file.c (3 commits)");
    expect(figure("history", "Commits")).toMatch(/^6 by 2 authors, \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d$/);
  });

  test("reports a shallow clone", () => {
    put({ a: "1\n" });
    commit();
    put({ a: "2\n" });
    commit();
    const clone = join(top, "clone");
    git("clone", "-q", "--depth", "1", `file://${repo}`, clone);
    expect(script("history", [], clone).out).toContain("The clone is shallow");
    expect(figure("history", "Commits", clone)).toMatch(/^1 by 1 author,/);
  });

  test("counts a renamed file under both names", () => {
    put({ old: "1\n2\n3\n" });
    commit();
    git("mv", "old", "new");
    commit();
    expect(rows("history")).toEqual([
      ["2", "old (no longer tracked)"],
      ["1", "new"],
    ]);
  });

  test("does not count touches of merge commits", () => {
    put({ a: "1\n" });
    commit();
    git("checkout", "-q", "-b", "side");
    put({ b: "1\n" });
    commit();
    git("checkout", "-q", "-");
    put({ a: "2\n" });
    commit();
    git("merge", "-q", "--no-edit", "side");
    expect(figure("history", "Commits")).toMatch(/^4 by/);
    expect(rows("history")).toEqual([
      ["2", "a"],
      ["1", "b"],
    ]);
  });
});

test.each([
  ["history", "HEAD~1^{tree}", ""],
  ["touched", "HEAD~1^{tree}", "'the largest file: a'"],
  ["touched", "HEAD~1", "'the largest file: a'"],
])("audit %s › stops if git cannot read %s, and prints no wrong figure", (name, missing, argument) => {
  for (const content of ["1\n", "2\n"]) {
    put({ a: content });
    commit();
  }
  const object = git("rev-parse", missing).trim();
  rmSync(join(repo, ".git", "objects", object.slice(0, 2), object.slice(2)));
  const command = `sh '${join(SCRIPTS, `${name}.sh`)}' ${argument} 2>&1 || true`;
  expect(shell(command)).toMatch(/(^|\n)audit: stopped: git cannot read all commits\.$/);
});

test("audit scripts › report zero figures for an empty repository and for one without commits", () => {
  expect(figure("inventory", "Tracked files")).toBe("0");
  expect(figure("largest", "Largest file")).toBe("none");
  expect(figure("history", "Most touched file")).toBe("none");
  expect(figure("todo", "Lines with TODO or FIXME")).toBe("0 in 0 files");
  expect(figure("tests", "Test files")).toBe("0 of 0 tracked files");
  expect(script("touched", ["the largest file: "]).out).toContain("touched by 0 commits");
  put({ "a b.c": "TODO\n" });
  git("add", "-A");
  expect(figure("inventory", "Tracked files")).toBe("1");
  expect(figure("largest", "Largest file")).toBe("a b.c (5 bytes)");
  expect(figure("history", "Commits")).toBe("0");
  expect(script("about").out).toContain("    Repository: repo\n");
});

test("audit inventory › counts a submodule as one entry, without its files", () => {
  put({ "a.c": "1\n" });
  commit();
  git("clone", "-q", repo, join(top, "other"));
  git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(top, "other"), "mod");
  commit();
  git("config", "submodule.recurse", "true");
  expect(figure("inventory", "Tracked files")).toBe(shell("git ls-files | wc -l"));
  expect(script("inventory").out).toContain("submodules: 1,");
  expect(figure("inventory", "Lines of text")).toBe(shell("cat a.c .gitmodules | wc -l"));
});

test("audit scripts › count a conflicted file once, and the whole repository from a subdirectory", () => {
  put({ "sub/a.c": "1\n" });
  commit();
  git("checkout", "-q", "-b", "side");
  put({ "sub/a.c": "2\n" });
  commit();
  git("checkout", "-q", "-");
  put({ "sub/a.c": "3\n" });
  commit();
  expect(() => git("merge", "-q", "side")).toThrow();
  expect(figure("inventory", "Tracked files", join(repo, "sub"))).toBe("1");
  expect(rows("largest")).toHaveLength(1);
});

test("audit tests › recognises test files by directory or by name", () => {
  put({
    "test/a.c": "1",
    "src/b.test.ts": "1",
    "pkg/c_test.go": "1",
    "test_d.py": "1",
    "src/ETest.java": "1",
    "__tests__/ü\n.js": "1",
    "src/latest.ts": "1",
    "contest.md": "1",
  });
  commit();
  expect(figure("tests", "Test files")).toBe("6 of 8 tracked files");
  expect(rows("tests")).toContainEqual(["1", "__tests__/"]);
});

test("audit scripts › fail with one sentence outside a repository", () => {
  const { status, out } = script("inventory", [], top);
  expect(status).toBe(1);
  expect(out).toMatch(/^audit: stopped: git finds no working tree here: .*not a git repository/);
});

describe("audit guard", () => {
  test("accepts a new path, and an older audit report", () => {
    const report = join(top, "AUDIT.md");
    expect(script("guard", [report]).out).toBe("report: is new\n");
    writeFileSync(report, `${MARKER}# Old\n`);
    expect(script("guard", [report]).out).toBe("report: replaces an older one\n");
  });

  test.each([
    ["a file of another program", (path: string) => writeFileSync(path, "# Mine\n")],
    [
      "a file with the marker below its first line",
      (path: string) => writeFileSync(path, `# Mine\n${MARKER}`),
    ],
    ["an empty file", (path: string) => writeFileSync(path, "")],
    ["a directory", (path: string) => mkdirSync(path)],
    ["a link to nowhere", (path: string) => symlinkSync("/nowhere", path)],
    [
      "a link to an older report",
      (path: string) => {
        writeFileSync(`${path}.real`, MARKER);
        symlinkSync(`${path}.real`, path);
      },
    ],
  ])("refuses %s", (_, make) => {
    const report = join(top, "AUDIT.md");
    make(report);
    const { status, out } = script("guard", [report]);
    expect(status).toBe(1);
    expect(out).toMatch(/^audit: stopped: /);
  });

  test("refuses a path in a missing directory, and a relative path", () => {
    expect(script("guard", [join(top, "no", "AUDIT.md")]).status).toBe(1);
    expect(script("guard", ["AUDIT.md"]).status).toBe(1);
  });
});

test("audit check › recounts the figures of a report and notices a wrong one", () => {
  put({ "a.c": "TODO\n" });
  commit();
  const report = join(top, "AUDIT.md");
  const text = ["inventory", "largest", "todo", "tests", "history"]
    .map((name) => script(name).out)
    .join("\n");
  writeFileSync(report, `${MARKER}${text}`);
  expect(script("check", [report]).out).toBe("Counted again: all 4 figures of the report hold.\n");
  expect(script("figures", [report]).out.split("\n").slice(0, 5)).toEqual([
    `The audit is done. Its report: ${report}`,
    "",
    "Tracked files: 1",
    "Lines of text: 1",
    "Lines with TODO or FIXME: 1 in 1 file",
  ]);
  writeFileSync(report, `${MARKER}${text.replace("Tracked files: 1", "Tracked files: 2")}`);
  expect(script("check", [report]).out).toMatch(/^Counted again: only 3 of 4/);
});

test("audit scripts › leave no temporary files", () => {
  put({ a: "1\n" });
  commit();
  const scratch = join(top, "scratch");
  mkdirSync(scratch);
  for (const name of ["inventory", "largest", "history", "todo", "tests", "touched"]) {
    script(name, [], repo, { ...ENV, TMPDIR: scratch });
  }
  expect(shell(`ls -A '${scratch}'`)).toBe("");
});
