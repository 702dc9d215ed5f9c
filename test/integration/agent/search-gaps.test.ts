import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { BackgroundTasks } from "../../../src/agent/background/background-tasks.ts";
import type { AnyTool, ToolContext } from "../../../src/agent/tool.ts";
import { globTool, shownPath } from "../../../src/agent/tools/glob.ts";
import { grepTool } from "../../../src/agent/tools/grep.ts";
import { searchWithoutRipgrep, searchWithRipgrep } from "../../../src/agent/tools/grep-search.ts";
import { SearchGaps } from "../../../src/agent/tools/search-gaps.ts";
import { findProgram } from "../../../src/os/files/access.ts";

let cwd: string;
let context: ToolContext;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "tt-gaps-"));
  // rmSync cannot remove a path that is too long.
  onTestFinished(() => void execFileSync("rm", ["-rf", cwd]));
  context = {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
    signal: new AbortController().signal,
    seenFiles: new Map(),
    background: new BackgroundTasks({ cwd, secrets: [] }),
  };
  writeFileSync(join(cwd, "a.txt"), "TODO\n");
});

const answerOf = async (tool: AnyTool, value: object): Promise<string> =>
  (await tool.execute(tool.input.parse(value) as object, context)).content;

const LONG = "d".repeat(200);
const hasRipgrep = findProgram("rg", process.env) !== undefined;

/** Nests directories until no program, not even as root, can read the deepest by its full path. */
function makeUnreadable(): void {
  const before = process.cwd();
  process.chdir(cwd);
  try {
    for (let depth = 0; depth < 24; depth += 1) {
      mkdirSync(LONG);
      process.chdir(LONG);
    }
  } finally {
    process.chdir(before);
  }
}

/** Puts a program first in the PATH. */
function withProgram(name: "git" | "rg", script: string): void {
  const bin = join(cwd, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  context = { ...context, env: { ...context.env, PATH: `${bin}:${process.env.PATH}` } };
}

const withGit = (script: string): void => withProgram("git", script);

describe("a directory that cannot be read", () => {
  const NOTE = /\(could not be read, so not searched: d{200}… \(\d+ more characters\)/;

  test("is named by Glob, unless a rule denies it", async () => {
    expect(await answerOf(globTool, { pattern: "**/*.txt" })).toBe("a.txt");
    makeUnreadable();
    const lines = (await answerOf(globTool, { pattern: "**/*.txt" })).split("\n");
    expect(lines).toEqual(["a.txt", expect.stringMatching(NOTE)]);
    context = { ...context, isExcludedFromSearch: (path) => path.includes(LONG) };
    expect(await answerOf(globTool, { pattern: "**/*.txt" })).toBe("a.txt");
  });

  test("is named by Grep", async () => {
    makeUnreadable();
    const lines = (await answerOf(grepTool, { pattern: "TODO" })).split("\n");
    expect(lines).toEqual(["a.txt", expect.stringMatching(NOTE)]);
  });

  const expectGap = async (engine: typeof searchWithRipgrep): Promise<void> => {
    makeUnreadable();
    const gaps = new SearchGaps();
    const query = { pattern: "TODO", path: cwd, ignoreCase: false, multiline: false };
    const outcome = await engine(query, { ...context, gaps });
    expect(outcome).toEqual({ matches: [{ file: join(cwd, "a.txt"), line: 1, span: 1, text: "TODO" }] });
    expect(gaps.notes((path) => shownPath(path, cwd))).toEqual([expect.stringMatching(NOTE)]);
  };

  test("is reported as a gap by the built-in search", () => expectGap(searchWithoutRipgrep));

  test.skipIf(!hasRipgrep)("is reported as a gap by ripgrep", () => expectGap(searchWithRipgrep));

  test.each(["src", "src/it's closed"])("is named as %s if git names it from the top", async (closed) => {
    mkdirSync(join(cwd, "src"));
    writeFileSync(join(cwd, "src", "b.txt"), "");
    withGit(`case "$*" in
*rev-parse*) echo src/ ;;
*) printf 'b.txt\\0'; echo "warning: could not open directory '${closed}/': Permission denied" >&2 ;;
esac`);
    expect(await answerOf(globTool, { pattern: "*.txt", path: "src" })).toBe(
      `src/b.txt\n(could not be read, so not searched: ${closed})`,
    );
  });
});

test.each([
  { filter: "glob", input: { glob: "*.ts" }, named: "b.ts, closed" },
  { filter: "type", input: { type: "md" }, named: "a.md, closed" },
  { filter: "no filter", input: {}, named: "a.md, b.ts, closed" },
])("Grep › names matching unreadable files and all directories, with ripgrep and $filter", async (one) => {
  for (const name of ["a.md", "b.ts"]) writeFileSync(join(cwd, name), "TODO\n");
  mkdirSync(join(cwd, "closed"));
  const lines = ["a.md", "b.ts", "closed"].map(
    (name) => `echo 'rg: ${join(cwd, name)}: Permission denied (os error 13)' >&2`,
  );
  withProgram("rg", [...lines, "exit 2"].join("\n"));
  expect(await answerOf(grepTool, { pattern: "TODO", ...one.input })).toBe(
    `Nothing matches.\n(could not be read, so not searched: ${one.named})`,
  );
});

test("Grep › fails if a signal ends ripgrep, and does not say that nothing matches", async () => {
  withProgram("rg", "kill -KILL $$");
  const content = "The search failed: ripgrep was ended by SIGKILL. Search a smaller directory.";
  expect(await grepTool.execute({ pattern: "TODO" }, context)).toMatchObject({ content, isError: true });
});

test("Grep › shows the complete matches if ripgrep finds more than can be read", async () => {
  const data = { path: { text: join(cwd, "a.txt") }, lines: { text: "TODO" }, line_number: 1 };
  const match = JSON.stringify({ type: "match", data });
  // The limit of 64 MiB cuts the second line, which then ends as a complete one would.
  const cut = `printf '{"type":"match"'; head -c 70000000 /dev/zero | tr '\\0' '}'`;
  withProgram("rg", `echo '${match}'; ${cut}`);
  expect(await answerOf(grepTool, { pattern: "TODO" })).toBe(
    "a.txt\n(there are more matches than can be read; narrow the search)",
  );
});

test("searchWithoutRipgrep › stops at 64 MiB of matches, and reports it", async () => {
  const line = `${"x".repeat(1_023)}\n`;
  for (const name of ["b.txt", "c.txt", "d.txt"]) writeFileSync(join(cwd, name), line.repeat(25_000));
  writeFileSync(join(cwd, "e.txt"), "x\n");
  const gaps = new SearchGaps();
  const query = { pattern: "x", path: cwd, ignoreCase: false, multiline: false };
  const outcome = await searchWithoutRipgrep(query, { ...context, gaps });
  expect("matches" in outcome && outcome.matches.length).toBe(75_000);
  expect(gaps.notes(String)).toEqual(["(there are more matches than can be read; narrow the search)"]);
});

test("searchWithoutRipgrep › can be interrupted between two large files", async () => {
  const line = `${"y".repeat(1_023)}\n`;
  for (const name of ["b.txt", "c.txt"]) writeFileSync(join(cwd, name), line.repeat(10_000));
  const turn = new AbortController();
  class InterruptedInB extends SearchGaps {
    #calls = 0;

    override unlessUnreadable<T>(path: string | Buffer, action: () => T): T | undefined {
      if (String(path).endsWith("b.txt")) this.#calls += 1;
      // The first call looks at the file, the second reads it. The interrupt arrives as soon as the search waits.
      if (this.#calls === 2) queueMicrotask(() => turn.abort());
      return super.unlessUnreadable(path, action);
    }
  }
  const query = { pattern: "x", path: cwd, ignoreCase: false, multiline: false };
  const own = { env: context.env, signal: turn.signal, gaps: new InterruptedInB() };
  await expect(searchWithoutRipgrep(query, own)).rejects.toThrow();
});

test("SearchGaps › names five paths, and the number of the others", () => {
  const gaps = new SearchGaps();
  for (let i = 1; i <= 7; i += 1) gaps.addUnreadable(`/w/${i}`);
  gaps.add("only a part was searched");
  const isWithheld = (path: string): boolean => path === "/w/2";
  expect(gaps.notes((path) => path.slice(3), isWithheld)).toEqual([
    "(could not be read, so not searched: 1, 3, 4, 5, 6 and 1 more)",
    "(only a part was searched)",
  ]);
});

test("Glob › says that it searched only the first 200,000 files", async () => {
  withGit("seq 0 200000 | tr '\\n' '\\0'");
  expect(await answerOf(globTool, { pattern: "*.md" })).toBe(
    "No file matches.\n(only the first 200000 files were searched; give a narrower path)",
  );
});
