import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { BackgroundTasks } from "../../../src/agent/background/background-tasks.ts";
import type { AnyTool, ToolContext, ToolResult } from "../../../src/agent/tool.ts";
import { editTool } from "../../../src/agent/tools/edit.ts";
import { globTool, shownPath } from "../../../src/agent/tools/glob.ts";
import { grepTool } from "../../../src/agent/tools/grep.ts";
import {
  type GrepOutcome,
  type GrepQuery,
  searchWithoutRipgrep,
  searchWithRipgrep,
} from "../../../src/agent/tools/grep-search.ts";
import { readTool } from "../../../src/agent/tools/read.ts";
import { writeTool } from "../../../src/agent/tools/write.ts";
import { git } from "../../support/files/git.ts";

let cwd: string;
let context: ToolContext;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "teams-tools-"));
  context = {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
    signal: new AbortController().signal,
    seenFiles: new Map(),
    background: new BackgroundTasks({ cwd, secrets: [] }),
  };
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const at = (name: string): string => join(cwd, name);
const put = (name: string, text: string): void => {
  mkdirSync(join(at(name), ".."), { recursive: true });
  writeFileSync(at(name), text);
};
const use = (tool: AnyTool, value: object): Promise<ToolResult> =>
  tool.execute(tool.input.parse(value) as object, context);

describe("Read tool", () => {
  test("numbers lines, and returns part of a file by offset and limit", async () => {
    put("a", "one\ntwo\r\nthree\nfour\n");
    expect((await use(readTool, { file_path: "a" })).content).toBe(
      "     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour",
    );
    const part = await use(readTool, { file_path: at("a"), offset: 2, limit: 2 });
    expect(part.content).toBe("     2\ttwo\n     3\tthree\n(lines 2 to 3 of 4; continue with offset 4)");
    expect(part.data).toMatchObject({ totalLines: 4, startLine: 2 });
    put("a", "one\rtwo\r");
    expect((await use(readTool, { file_path: "a" })).content).toBe("     1\tone\n     2\ttwo");
  });

  test("reports an empty file, an offset past the end and a truncated line", async () => {
    put("empty", "");
    put("short", "x");
    put("wide", "y".repeat(5000));
    expect((await use(readTool, { file_path: "empty" })).content).toContain("is empty");
    expect((await use(readTool, { file_path: "short", offset: 9 })).content).toContain("its last line is 1");
    expect((await use(readTool, { file_path: "wide" })).content).toMatch(
      /^ {5}1\ty{2000}… \(5000 characters\)$/,
    );
  });

  test.runIf(process.platform === "linux")("reads a file that reports no size", async () => {
    expect((await use(readTool, { file_path: "/proc/self/status" })).content).toContain("Pid:");
  });

  test("refuses paths that are not text files, with the reason", async () => {
    put("photo.PNG", "x");
    writeFileSync(at("binary"), Buffer.from([1, 2, 0, 3]));
    put("paper", "%PDF-1.7\n1 0 obj\n");
    execFileSync("mkfifo", [at("pipe")]);
    const problems: Record<string, string> = {
      "photo.PNG": "is an image",
      binary: "is a binary file",
      paper: "is a binary file",
      pipe: "not a regular file",
      ".": "is a directory",
      nothing: "does not exist",
    };
    for (const [file_path, problem] of Object.entries(problems)) {
      expect(await use(readTool, { file_path })).toMatchObject({
        isError: true,
        content: expect.stringContaining(problem),
      });
    }
  });

  test("resolves its path from the working directory or the home directory", () => {
    const touched = (file_path: string) => readTool.access({ file_path }, context);
    expect(touched("a/../b")).toEqual({ kind: "read", paths: [at("b")] });
    expect(touched("~/x")).toEqual({ kind: "read", paths: [at("x")] });
    expect(touched("/etc/x")).toEqual({ kind: "read", paths: ["/etc/x"] });
    // As in a shell, the home directory of the account replaces a missing HOME.
    const withoutHome = readTool.access({ file_path: "~/x" }, { ...context, env: {} });
    expect(withoutHome).toEqual({ kind: "read", paths: [join(homedir(), "x")] });
  });
});

test.each([readTool, writeTool, editTool, globTool, grepTool] as AnyTool[])(
  "$name tool › refuses a path with a NUL character",
  ({ input }) => {
    const value = {
      file_path: "a\0",
      content: "",
      old_string: "a",
      new_string: "b",
      pattern: "a",
      path: "a\0",
    };
    const problems = input.safeParse(value).error?.issues.map(({ message }) => message);
    expect(problems).toEqual(["contains a NUL character"]);
  },
);

describe("Write tool", () => {
  test("creates a file and its parent directories, with modes from the umask", async () => {
    const result = await use(writeTool, { file_path: "new/deep/a", content: "one\ntwo\n" });
    expect(result.content).toBe(`Created ${at("new/deep/a")} (2 lines).`);
    expect(readFileSync(at("new/deep/a"), "utf8")).toBe("one\ntwo\n");
    const umask = process.umask();
    expect(statSync(at("new/deep/a")).mode & 0o777).toBe(0o666 & ~umask);
    expect(statSync(at("new/deep")).mode & 0o777).toBe(0o777 & ~umask);
  });

  test("replaces a file only if it was read and has not changed since", async () => {
    put("a", "old");
    const write = () => use(writeTool, { file_path: "a", content: "new" });
    expect(await write()).toMatchObject({ isError: true, content: expect.stringContaining("not been read") });
    await use(readTool, { file_path: "a" });
    utimesSync(at("a"), 1, 1);
    expect(await write()).toMatchObject({ isError: true, content: expect.stringContaining("has changed") });
    expect(readFileSync(at("a"), "utf8")).toBe("old");
    await use(readTool, { file_path: "a" });
    expect((await write()).isError).toBeUndefined();
    expect((await use(writeTool, { file_path: "a", content: "newer" })).isError).toBeUndefined();
    expect(readFileSync(at("a"), "utf8")).toBe("newer");
  });

  test("keeps mode, symlinks and hard links, and leaves no temporary file", async () => {
    put("real", "old");
    chmodSync(at("real"), 0o751);
    symlinkSync("real", at("link"));
    put("twin", "old");
    linkSync(at("twin"), at("twin2"));
    for (const file_path of ["link", "twin"]) {
      await use(readTool, { file_path });
      await use(writeTool, { file_path, content: "new" });
    }
    expect(readFileSync(at("real"), "utf8")).toBe("new");
    expect(statSync(at("real")).mode & 0o777).toBe(0o751);
    expect(readFileSync(at("twin2"), "utf8")).toBe("new");
    expect(readdirSync(cwd)).toEqual(["link", "real", "twin", "twin2"]);
  });

  test("replaces the agent's plan without a Read, and redacts secrets in it (S75)", async () => {
    context = {
      ...context,
      planFile: at("plan.md"),
      env: { ...context.env, API_KEY: "open sesame", OTHER_KEY: 'a "quoted" one' },
    };
    put("plan.md", "of an earlier process");
    await use(writeTool, { file_path: "plan.md", content: 'open sesame, {"key":"a \\"quoted\\" one"}' });
    expect(readFileSync(at("plan.md"), "utf8")).toBe('[secret], {"key":"[secret]"}');
    await use(editTool, { file_path: "plan.md", old_string: ", ", new_string: " open sesame " });
    expect(readFileSync(at("plan.md"), "utf8")).toBe('[secret] [secret] {"key":"[secret]"}');
    await use(writeTool, { file_path: "own.md", content: "open sesame" });
    expect(readFileSync(at("own.md"), "utf8")).toBe("open sesame");
  });

  test("creates the agent's plan and the plans directory with private modes", async () => {
    context = { ...context, planFile: at("plans/crew_dev.md") };
    await use(writeTool, { file_path: "plans/crew_dev.md", content: "one" });
    const modes = () => ["plans", "plans/crew_dev.md"].map((path) => statSync(at(path)).mode & 0o777);
    expect(modes()).toEqual([0o700, 0o600]);
    await use(editTool, { file_path: "plans/crew_dev.md", old_string: "one", new_string: "two" });
    expect([readFileSync(at("plans/crew_dev.md"), "utf8"), ...modes()]).toEqual(["two", 0o700, 0o600]);
  });

  test("refuses a path below a regular file; Read reports it as missing", async () => {
    put("a", "x");
    const result = await use(writeTool, { file_path: "a/b/c", content: "y" });
    expect(result).toEqual({ content: `${at("a")} is not a directory; nothing was written.`, isError: true });
    expect((await use(readTool, { file_path: "a/b" })).content).toBe(`${at("a/b")} does not exist.`);
  });

  test("shows a new file in full, and only the changes of a replaced file", async () => {
    const created = await use(writeTool, { file_path: "new", content: "a\nb\nc\nd\ne\n" });
    expect(created).toMatchObject({ display: "new file: 5 lines" });
    expect(created.change).toEqual(["@@ -0,0 +1,5 @@", "+a", "+b", "+c", "+d", "+e"]);
    const replaced = await use(writeTool, { file_path: "new", content: "a\nb\nc\nd\n" });
    expect(replaced).toMatchObject({ display: "1 line removed" });
    expect(replaced.change).toEqual(["@@ -2,4 +2,3 @@", " b", " c", " d", "-e"]);
  });

  test("shows a bounded part of a very long change", async () => {
    const content = "x\n".repeat(50_000);
    const { change = [], display } = await use(writeTool, { file_path: "long", content });
    expect([change.length, change.at(-1), display]).toEqual([
      401,
      "… 49601 more lines",
      "new file: 50000 lines",
    ]);
  });

  test("shows no change of a binary file", async () => {
    writeFileSync(at("binary"), Buffer.from([1, 0, 2]));
    const call = { file_path: at("binary"), content: "text\n" };
    expect(await writeTool.plannedChange?.(call, context, true)).toBeUndefined();
    context.seenFiles.set(at("binary"), statSync(at("binary")).mtimeMs);
    const { change, display, content } = await use(writeTool, call);
    expect([change, display, content]).toEqual([undefined, undefined, expect.stringContaining("Replaced")]);
  });

  test.each([
    ["CRLF", "one\r\ntwo\r\n", "1\n2\n3\n", "1\r\n2\r\n3\r\n", " It keeps its CRLF line ends."],
    ["CRLF that the content has", "one\r\n", "1\r\n2\r\n", "1\r\n2\r\n", ""],
    ["the byte order mark", "\ufeffone\n", "1\n", "\ufeff1\n", " It keeps its byte order mark."],
    ["a byte order mark that the content has", "\ufeffone\n", "\ufeff1\n", "\ufeff1\n", ""],
    [
      "both",
      "\ufeffone\r\n",
      "1\n",
      "\ufeff1\r\n",
      " It keeps its CRLF line ends. It keeps its byte order mark.",
    ],
    ["LF of most lines", "one\r\ntwo\nthree\n", "1\n2\n", "1\n2\n", ""],
    ["CR alone", "one\rtwo\r", "1\n2\r\n3\r", "1\n2\r\n3\r", ""],
    ["CR alone, for LF", "one\rtwo\r", "1\n2\n", "1\r2\r", " It keeps its CR line ends."],
    ["nothing of an empty file", "", "1\r\n", "1\r\n", ""],
  ])("keeps the line ends and the byte order mark of a file: %s", async (_, text, content, after, note) => {
    put("a", text);
    await use(readTool, { file_path: "a" });
    const planned = await writeTool.plannedChange?.({ file_path: at("a"), content }, context, true);
    const result = await use(writeTool, { file_path: "a", content });
    expect(readFileSync(at("a"), "utf8")).toBe(after);
    expect(result.content.endsWith(`).${note}`)).toBe(true);
    expect(result.change).toEqual(planned);
  });

  test("says that a file in another encoding is UTF-8 now", async () => {
    writeFileSync(at("a"), Buffer.from("caf\xe9\n", "latin1"));
    await use(readTool, { file_path: "a" });
    const { content } = await use(writeTool, { file_path: "a", content: "café\n" });
    expect(content).toMatch(/\. It was not valid UTF-8, and is now\.$/);
    expect(readFileSync(at("a"), "utf8")).toBe("café\n");
  });

  test("refuses a directory as its path", async () => {
    expect((await use(writeTool, { file_path: ".", content: "" })).isError).toBe(true);
  });
});

describe("Edit tool", () => {
  const edit = async (text: string, change: object): Promise<ToolResult> => {
    put("a", text);
    await use(readTool, { file_path: "a" });
    return use(editTool, { file_path: "a", ...change });
  };
  const now = (): string => readFileSync(at("a"), "utf8");

  test("replaces a single occurrence, or all of them with replace_all", async () => {
    const one = await edit("a\nb\nc\n", { old_string: "b", new_string: "$& $1" });
    expect(one.data).toMatchObject({ replacements: 1, line: 2 });
    expect(now()).toBe("a\n$& $1\nc\n");
    await edit("x x x", { old_string: "x", new_string: "y", replace_all: true });
    expect(now()).toBe("y y y");
  });

  test("shows its change with line numbers and three lines of context, at every place", async () => {
    const text = Array.from({ length: 12 }, (_, i) => `${i % 9 === 1 ? "x" : "line"}\n`).join("");
    const result = await edit(text, { old_string: "x", new_string: "y\nz", replace_all: true });
    expect(result).toMatchObject({ display: "4 lines added, 2 lines removed" });
    expect(result.change).toEqual([
      ...["@@ -1,5 +1,6 @@", " line", "-x", "+y", "+z", " line", " line", " line"],
      ...["@@ -8,5 +9,6 @@", " line", " line", " line", "-x", "+y", "+z", " line"],
    ]);
  });

  test("shows no carriage returns of a CRLF file", async () => {
    const { change } = await edit("a\r\nb\r\n", { old_string: "b", new_string: "c" });
    expect(change).toEqual(["@@ -1,2 +1,2 @@", " a", "-b", "+c"]);
  });

  test("shows no secret, even of several lines", async () => {
    context = { ...context, env: { ...context.env, SIGNING_KEY: "first-line-of-it\nsecond-line-of-it" } };
    const text = "first-line-of-it\nsecond-line-of-it\nport=1\n";
    const { change } = await edit(text, { old_string: "port=1", new_string: "port=2" });
    expect(change).toEqual(["@@ -1,2 +1,2 @@", " [secret]", "-port=1", "+port=2"]);
    expect(now()).toBe(text.replace("1", "2"));
  });

  test("plans the same change without making it, and no change of a file that the agent may not read", async () => {
    put("a", "a\nb\n");
    const change = { file_path: at("a"), old_string: "b", new_string: "c" };
    expect(await editTool.plannedChange?.(change, context, true)).toEqual([
      ...["@@ -1,2 +1,2 @@", " a", "-b", "+c"],
    ]);
    expect(await editTool.plannedChange?.(change, context, false)).toBeUndefined();
    expect(await editTool.plannedChange?.({ ...change, old_string: "" }, context, true)).toBeUndefined();
    expect(
      await editTool.plannedChange?.({ ...change, file_path: at("none") }, context, true),
    ).toBeUndefined();
    expect(now()).toBe("a\nb\n");
  });

  test("matches LF line ends in a CRLF file and keeps CRLF", async () => {
    await edit("one\r\ntwo\r\nthree\r\n", { old_string: "one\ntwo", new_string: "1\n2" });
    expect(now()).toBe("1\r\n2\r\nthree\r\n");
  });

  test.each([
    ["in a CRLF file", "one\r\ntwo\r\n", "two", "two\nand a half", "one\r\ntwo\r\nand a half\r\n"],
    ["at the end of a CRLF file", "one\r\ntwo", "two", "two\nthree\n", "one\r\ntwo\r\nthree\r\n"],
    ["in an LF file", "one\ntwo\n", "one", "1\r\n1.5", "1\n1.5\ntwo\n"],
    ["in a file without line ends", "one", "one", "1\n2", "1\n2"],
    ["in the CRLF part of a mixed file", "a\nb\nx\r\ny\r\n", "x", "x\nz", "a\nb\nx\r\nz\r\ny\r\n"],
    ["in the LF part of a mixed file", "a\nb\nx\r\ny\r\n", "a", "a\nz", "a\nz\nb\nx\r\ny\r\n"],
    ["across both parts", "a\nx\r\ny\n", "a\nx\ny", "b", "b\n"],
    ["from a line end to the next", "a\r\nb\r\nc", "\nb\n", "\n", "a\r\nc"],
    ["for carriage returns in old_string", "a\r\nb\r\n", "a\r\nb", "c\nd", "c\r\nd\r\n"],
    ["in a file with carriage returns alone", "a\rb\rc\r", "a\nb", "a\nx\r\nb", "a\rx\rb\rc\r"],
    ["for carriage returns alone in old_string", "a\rb\rc", "b\rc", "b\nc\n", "a\rb\rc\r"],
  ])("adapts new line ends to those around them: %s", async (_, text, old_string, new_string, after) => {
    expect((await edit(text, { old_string, new_string })).isError).toBeUndefined();
    expect(now()).toBe(after);
  });

  test("keeps the byte order mark, which Read does not show", async () => {
    put("a", "\ufeffone\ntwo\n");
    expect((await use(readTool, { file_path: "a" })).content).toMatch(/^ +1\tone\n/);
    const { change } = await use(editTool, { file_path: "a", old_string: "one\n", new_string: "1\n" });
    expect([now(), change]).toEqual(["\ufeff1\ntwo\n", ["@@ -1,2 +1,2 @@", "-one", "+1", " two"]]);
  });

  test("refuses a lone surrogate, which would match inside a character", () => {
    const call = { file_path: "a", old_string: "b", new_string: "c" };
    expect(editTool.input.safeParse(call).success).toBe(true);
    for (const lone of [{ old_string: "\ud83d" }, { new_string: "b\ude00" }])
      expect(editTool.input.safeParse({ ...call, ...lone }).success).toBe(false);
    expect(writeTool.input.safeParse({ file_path: "a", content: "\ud83d" }).success).toBe(false);
  });

  test("changes a valid file that contains a replacement character", async () => {
    expect((await edit("a \ufffd b", { old_string: "b", new_string: "c" })).isError).toBeUndefined();
    expect(now()).toBe("a \ufffd c");
  });

  test("replaces all occurrences in a file with CRLF, each with its own line ends", async () => {
    const text = `${"x\r\n".repeat(3)}x\n`;
    await edit(text, { old_string: "x", new_string: "x\ny", replace_all: true });
    expect(now()).toBe(`${"x\r\ny\r\n".repeat(3)}x\ny\n`);
  });

  test.each([
    [
      "line ends that differ only in their form",
      "a\r\nb",
      { old_string: "a\r\nb", new_string: "a\nb" },
      "the same",
    ],
    ["an old_string that occurs twice", "x x", { old_string: "x", new_string: "y" }, "occurs 2 times"],
    ["an old_string that does not occur", "x", { old_string: "z", new_string: "y" }, "does not occur"],
    ["a new_string equal to old_string", "x", { old_string: "x", new_string: "x" }, "the same"],
    ["an empty old_string", "x", { old_string: "", new_string: "x" }, "empty"],
  ])("refuses %s and changes nothing", async (_, text, change, problem) => {
    expect(await edit(text, change)).toMatchObject({
      isError: true,
      content: expect.stringContaining(problem),
    });
    expect(now()).toBe(text);
  });

  test("refuses a file that was not read, does not exist or is not UTF-8", async () => {
    put("b", "x");
    const change = { old_string: "x", new_string: "y" };
    expect((await use(editTool, { file_path: "b", ...change })).content).toContain("not been read");
    expect((await use(editTool, { file_path: "c", ...change })).content).toContain("does not exist");
    writeFileSync(at("latin"), Buffer.from([0x78, 0xe9]));
    await use(readTool, { file_path: "latin" });
    expect((await use(editTool, { file_path: "latin", ...change })).content).toContain("not valid UTF-8");
  });
});

describe("Glob tool", () => {
  test("lists matching files newest first, without files ignored by git", async () => {
    for (const name of ["a.ts", "src/b.ts", "src/deep/c.ts", "src/.d.ts", "dist/e.ts", "f.js"]) put(name, "");
    put(".gitignore", "dist\n");
    git(cwd, "init", "-q");
    git(cwd, "add", "src/b.ts");
    utimesSync(at("a.ts"), 3, 3);
    utimesSync(at("src/b.ts"), 2, 2);
    utimesSync(at("src/deep/c.ts"), 1, 1);
    utimesSync(at("src/.d.ts"), 0, 0);
    expect((await use(globTool, { pattern: "**/*.ts" })).content).toBe(
      "a.ts\nsrc/b.ts\nsrc/deep/c.ts\nsrc/.d.ts",
    );
    expect((await use(globTool, { pattern: "*.ts", path: "src" })).content).toBe("src/b.ts\nsrc/.d.ts");
    expect((await use(globTool, { pattern: "*.{js,json}" })).data).toEqual({ files: ["f.js"], total: 1 });
    expect((await use(globTool, { pattern: `${cwd}/src/*/*.ts` })).content).toBe("src/deep/c.ts");
    expect((await use(globTool, { pattern: "*", path: "dist" })).content).toBe("dist/e.ts");
    rmSync(at("src/b.ts"));
    expect((await use(globTool, { pattern: "**/b.ts" })).content).toBe("No file matches.");
  });

  test("walks the directories outside a git repository, without following symlinks", async () => {
    put("a/x.md", "");
    put("node_modules/y.md", "");
    symlinkSync("..", at("a/loop"));
    expect((await use(globTool, { pattern: "**/*.md" })).content).toBe("a/x.md");
  });

  test("declares access to the directory that the pattern leads to", () => {
    expect(globTool.access({ pattern: "/etc/*.conf" }, context)).toEqual({ kind: "read", paths: ["/etc"] });
    expect(globTool.access({ pattern: "../x/*.ts" }, context)).toEqual({
      kind: "read",
      paths: [join(cwd, "../x")],
    });
    expect(globTool.access({ pattern: "**/*.ts", path: "src" }, context)).toEqual({
      kind: "read",
      paths: [at("src")],
    });
  });
});

test("Glob tool › stops a pattern that backtracks forever", async () => {
  put("a".repeat(120), "");
  const result = await use(globTool, { pattern: `${"*a".repeat(12)}*b` });
  expect(result).toMatchObject({ isError: true, content: expect.stringContaining("takes too long") });
});

type Engine = (query: GrepQuery) => Promise<GrepOutcome | undefined>;
const engines: [string, Engine][] = [
  ["the built-in search", (query) => searchWithoutRipgrep(query, context)],
  ["ripgrep", (query) => searchWithRipgrep(query, context)],
];
const hasRipgrep = ((): boolean => {
  try {
    return execFileSync("rg", ["--version"]).length > 0;
  } catch {
    return false;
  }
})();

// macOS refuses such names.
describe.skipIf(platform() === "darwin")("a name that is not UTF-8", () => {
  const NOTE =
    "(A name in $'…' is not valid UTF-8: Bash can use the name as it is shown, Read and Edit cannot.)";
  const raw = (...parts: readonly (string | number)[]): Buffer =>
    Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.from([part]) : Buffer.from(part))));

  beforeEach(() => {
    put("café.txt", "TODO one\n");
    writeFileSync(raw(`${cwd}/caf`, 0xe9, ".txt"), "TODO two\n");
    mkdirSync(raw(`${cwd}/d`, 0xff));
    writeFileSync(raw(`${cwd}/d`, 0xff, "/it's.txt"), "TODO three\n");
    symlinkSync(at("café.txt"), raw(`${cwd}/link`, 0xe9, ".txt"));
  });

  test.each(["in a git repository", "elsewhere"])(
    "is listed by Glob in the quotes of a shell, %s",
    async (where) => {
      if (where !== "elsewhere") git(cwd, "init", "-q");
      const lines = (await use(globTool, { pattern: "**/*.txt" })).content.split("\n");
      const links = where === "elsewhere" ? [] : ["$'link\\xe9.txt'"];
      const files = ["$'caf\\xe9.txt'", "$'d\\xff/it\\'s.txt'", ...links, "café.txt"];
      expect(lines.slice(0, -1).sort()).toEqual(files);
      expect(lines.at(-1)).toBe(NOTE);
      const command = `cat ${files.slice(0, 2).join(" ")}`;
      const printed = execFileSync("bash", ["-c", command], { cwd, encoding: "utf8" });
      expect(printed).toBe("TODO two\nTODO three\n");
    },
  );

  test.for(engines)("is searched by Grep with %s", async ([name, engine], context) => {
    context.skip(name === "ripgrep" && !hasRipgrep, "ripgrep is not installed");
    const query = { pattern: "TODO", path: cwd, glob: "*.txt", ignoreCase: false, multiline: false };
    const outcome = await engine(query);
    const matches = outcome !== undefined && "matches" in outcome ? outcome.matches : [];
    const found = matches.map(({ file, text }) => `${shownPath(file, cwd)}: ${text}`).sort();
    expect(found).toEqual([
      "$'caf\\xe9.txt': TODO two",
      "$'d\\xff/it\\'s.txt': TODO three",
      "café.txt: TODO one",
    ]);
  });

  test("is shown relative to the working directory, even at the root", () => {
    expect(shownPath(raw(`${cwd}/caf`, 0xe9), cwd)).toBe("$'caf\\xe9'");
    expect(shownPath(raw(`${cwd}s/caf`, 0xe9), cwd)).toBe(`$'${cwd}s/caf\\xe9'`);
    expect(shownPath(raw("/caf", 0xe9), "/")).toBe("$'caf\\xe9'");
  });

  test("is shown by Grep with its lines and a note, and withheld by a rule for its directory", async () => {
    const grep = (more: object = {}) =>
      use(grepTool, { pattern: "two", output_mode: "content", "-C": 1, ...more });
    expect((await grep()).content).toBe(`$'caf\\xe9.txt':1:TODO two\n${NOTE}`);
    for (const output_mode of ["content", "files_with_matches", "count"] as const) {
      const page = async (offset: number): Promise<string> =>
        (await grep({ pattern: "TODO", output_mode, head_limit: 1, offset })).content;
      const pages = await Promise.all([page(0), page(1), page(2)]);
      const about = pages.map((text) => text.includes("$'"));
      expect(about.filter(Boolean), output_mode).toHaveLength(2);
      expect(pages.map((text) => text.includes(NOTE))).toEqual(about);
    }
    context = { ...context, isExcludedFromSearch: (path) => path.includes("caf") };
    expect((await grep()).content).toBe("Nothing matches.\n(left out by permission rules: 1 file)");
    expect((await use(globTool, { pattern: "caf*" })).content).toContain("No file matches.");
  });
});

describe.each(engines)("Grep with %s", (name, engine) => {
  const found = async (pattern: string, more: Partial<GrepQuery> = {}): Promise<string[]> => {
    const outcome = await engine({ pattern, path: cwd, ignoreCase: false, multiline: false, ...more });
    if (outcome === undefined || "problem" in outcome) throw new Error(JSON.stringify(outcome));
    return outcome.matches.map(
      ({ file, line, text, span }) => `${String(file).slice(cwd.length + 1)}:${line}+${span}:${text}`,
    );
  };
  beforeEach(() => {
    put("b.txt", "zero\nTODO one\r\ntodo two\nthree TODO");
    put("a/c.md", "TODO 検査\n");
    put("a/ignored.md", "TODO\n");
    put(".gitignore", "ignored.md\n");
    put(".hidden", "TODO hidden\n");
    writeFileSync(at("binary"), Buffer.from("TODO\0"));
    git(cwd, "init", "-q");
  });

  test.skipIf(name === "ripgrep" && !hasRipgrep)(
    "returns matching lines, by file and line number",
    async () => {
      expect(await found("TODO")).toEqual([
        ".hidden:1+1:TODO hidden",
        "a/c.md:1+1:TODO 検査",
        "b.txt:2+1:TODO one",
        "b.txt:4+1:three TODO",
      ]);
      expect(await found("^todo", { ignoreCase: true, path: at("b.txt") })).toEqual([
        "b.txt:2+1:TODO one",
        "b.txt:3+1:todo two",
      ]);
      expect(await found("TODO", { glob: "*.md" })).toEqual(["a/c.md:1+1:TODO 検査"]);
      expect(await found("TODO", { type: "md" })).toEqual(["a/c.md:1+1:TODO 検査"]);
      expect(await found("TODO", { type: "md", glob: "b*" })).toEqual([]);
      expect(await found("TODO", { type: "ts" })).toEqual([]);
      expect(await found("one.*two", { multiline: true })).toEqual(["b.txt:2+2:TODO one\r\ntodo two"]);
      expect(await found("\\bTODO\\s\\w+$", { path: at("b.txt") })).toEqual(["b.txt:2+1:TODO one"]);
      expect(await found("nowhere")).toEqual([]);
      put("empty-first", "\nfoo\n");
      expect(await found("\\nfoo", { multiline: true, glob: "empty*" })).toEqual(["empty-first:1+2:\nfoo"]);
    },
  );

  test.skipIf(name === "ripgrep" && !hasRipgrep)("reports an invalid pattern", async () => {
    const query = { pattern: "(", path: cwd, ignoreCase: false, multiline: false };
    expect(await engine(query)).toMatchObject({ problem: expect.stringMatching(/unclosed|unterminated/i) });
  });
});

describe("Grep tool", () => {
  test("stops a pattern that backtracks forever", async () => {
    put("a", `${"a".repeat(60)}\n`);
    const query = { pattern: "^(a+)+b$", path: at("a"), ignoreCase: false, multiline: false };
    expect(await searchWithoutRipgrep(query, context)).toMatchObject({
      problem: expect.stringContaining("takes too long"),
    });
  });

  test("finds every line of a file with more matches than a function call can have arguments", async () => {
    const count = 300_000;
    put("a", "x\n".repeat(count));
    const query = { pattern: "x", path: at("a"), ignoreCase: false, multiline: false };
    const outcome = await searchWithoutRipgrep(query, context);
    expect("matches" in outcome ? outcome.matches.length : outcome.problem).toBe(count);
  });

  test("says that a path is neither a file nor a directory", async () => {
    const result = await use(grepTool, { pattern: "x", path: "missing" });
    expect(result).toMatchObject({
      isError: true,
      content: `${at("missing")} does not exist, or is neither a file nor a directory.`,
    });
  });

  test("stops a file name filter that backtracks forever", async () => {
    put("a".repeat(200), "x");
    const query = {
      pattern: "x",
      path: cwd,
      glob: `${"*a".repeat(30)}b`,
      ignoreCase: false,
      multiline: false,
    };
    expect(await searchWithoutRipgrep(query, context)).toEqual({
      problem: expect.stringContaining("glob takes too long"),
    });
  });

  test("explains why a pattern is not a regular expression", async () => {
    const query = { pattern: "a[", path: cwd, ignoreCase: false, multiline: false };
    expect(await searchWithoutRipgrep(query, context)).toEqual({
      problem:
        '"a[" is not a valid regular expression: Unterminated character class. Escape characters that are literal.',
    });
  });

  test("does not follow a symlink to a file or directory", async () => {
    const outside = mkdtempSync(join(tmpdir(), "teams-outside-"));
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    writeFileSync(join(outside, "file"), "SECRET\n");
    put("sub/file", "SECRET of ours\n");
    put("way/file", "nothing\n");
    symlinkSync(join(outside, "file"), at("link"));
    git(cwd, "init", "-q");
    git(cwd, "add", ".");
    rmSync(at("way"), { recursive: true });
    symlinkSync(outside, at("way"));
    const query = { pattern: "SECRET", path: cwd, ignoreCase: false, multiline: false };
    expect(await searchWithoutRipgrep(query, context)).toEqual({
      matches: [{ file: at("sub/file"), line: 1, span: 1, text: "SECRET of ours" }],
    });
  });

  test("returns files, counts, or lines with context", async () => {
    put("a.txt", "1\n2 x\n3\n4\n5\n6 x\n7\n");
    put("b.txt", "x\nx\n");
    expect((await use(grepTool, { pattern: "x" })).content).toBe("a.txt\nb.txt");
    expect((await use(grepTool, { pattern: "x", output_mode: "count" })).content).toBe("a.txt:2\nb.txt:2");
    const lines = { pattern: "x", path: "a.txt", output_mode: "content" };
    expect((await use(grepTool, lines)).content).toBe("a.txt:2:2 x\na.txt:6:6 x");
    expect((await use(grepTool, { ...lines, "-C": 1 })).content).toBe(
      "a.txt-1-1\na.txt:2:2 x\na.txt-3-3\n--\na.txt-5-5\na.txt:6:6 x\na.txt-7-7",
    );
    expect((await use(grepTool, { ...lines, "-n": false, "-A": 1, head_limit: 2 })).content).toBe(
      "a.txt:2 x\na.txt-3\n(the first 2 of 5; narrow the search, or continue with offset 2)",
    );
    const paged = { ...lines, "-n": false, "-A": 1, head_limit: 2 };
    expect((await use(grepTool, { ...paged, offset: 2 })).content).toBe(
      "--\na.txt:6 x\n(3 to 4 of 5; narrow the search, or continue with offset 4)",
    );
    expect((await use(grepTool, { ...paged, offset: 4 })).content).toBe("a.txt-7");
    expect((await use(grepTool, { ...paged, offset: 9 })).content).toBe("There are no results after 5.");
    expect((await use(grepTool, { pattern: "x", type: "md" })).content).toBe("Nothing matches.");
    expect(await use(grepTool, { pattern: "x", type: "wizardry" })).toMatchObject({
      isError: true,
      content: expect.stringMatching(/wizardry.*rust/),
    });
    expect((await use(grepTool, { pattern: "nope" })).content).toBe("Nothing matches.");
    expect((await use(grepTool, { pattern: "x", path: "gone" })).isError).toBe(true);
    expect((await use(grepTool, { pattern: "x" })).data).toMatchObject({
      count: 4,
      files: ["a.txt", "b.txt"],
    });
  });
});
