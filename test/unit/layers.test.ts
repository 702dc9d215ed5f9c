import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";

const GATE = fileURLToPath(new URL("../../scripts/layers.mjs", import.meta.url));
const trees: string[] = [];

afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

/** Runs the gate over a tree of its own: path below src/ → source. */
function judge(files: Readonly<Record<string, string>>): { status: number | null; breaches: string[] } {
  const root = mkdtempSync(join(tmpdir(), "teams-layers-"));
  trees.push(root);
  mkdirSync(join(root, "src"));
  for (const [file, source] of Object.entries(files)) {
    mkdirSync(dirname(join(root, "src", file)), { recursive: true });
    writeFileSync(join(root, "src", file), source);
  }
  const { status, stderr } = spawnSync(process.execPath, [GATE, root], { encoding: "utf8" });
  return { status, breaches: stderr.split("\n").filter((line) => line !== "") };
}

/** What every breach is found in: `a.ts` beside the file under test, so that its import is a real one. */
function breachesOf(file: string, source: string, others: Readonly<Record<string, string>> = {}): string[] {
  const { status, breaches } = judge({ ...others, [file]: source });
  expect(status).toBe(breaches.length > 0 ? 1 : 0);
  return breaches;
}

const LEAD = { "lead/spawn.ts": "export const spawn = 1;\nexport type Spawn = 1;\n" };
const AGENT = { "agent/agent.ts": "export const agent = 1;\n" };

test("a house in order passes", () => {
  const files = {
    "errors.ts": "export class TeamError extends Error {}\n",
    "schema/names.ts":
      'import { TeamError } from "../errors.ts";\nexport const bad = () => new TeamError("x");\n',
    "os/fs.ts":
      'import fs from "node:fs";\nexport const now = () => Date.now();\nexport const read = fs.readFileSync;\n',
    "team/config.ts":
      'import { read } from "../os/fs.ts";\nimport { bad } from "./members.ts";\nexport const a = [read, bad];\n',
    "team/members.ts":
      'export { bad } from "../schema/names.ts";\nexport const at = (ms: number) => new Date(ms);\n',
    "cli/program.ts":
      'import { Command } from "commander";\nimport { a } from "../team/config.ts";\nexport const run = () => process.stdout.write(String([a, Command]));\n',
    "sidebar/screen.ts": 'export const screen = async () => (await import("blessed")).screen();\n',
    "main.ts": 'void import("./cli/program.ts").then(({ run }) => process.exit(run() ? 0 : 1));\n',
    "index.ts": 'export { a } from "./team/config.ts";\nexport { TeamError } from "./errors.ts";\n',
  };
  expect(judge(files)).toEqual({ status: 0, breaches: [] });
});

test("the project's own tree passes", () => {
  const { status, stderr } = spawnSync(process.execPath, [GATE], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

describe("an import that points up is refused", () => {
  test.each([
    ["import", 'import { spawn } from "../lead/spawn.ts";\nexport const x = spawn;\n'],
    ["import type", 'import type { Spawn } from "../lead/spawn.ts";\nexport type X = Spawn;\n'],
    ["import for its effect", 'import "../lead/spawn.ts";\nexport const x = 1;\n'],
    ["import()", 'export const x = () => import("../lead/spawn.ts");\n'],
    ["import() of a template", "export const x = () => import(`../lead/spawn.ts`);\n"],
    ["a type of import()", 'export type X = import("../lead/spawn.ts").Spawn;\n'],
    ["export from", 'export { spawn } from "../lead/spawn.ts";\nexport const x = 1;\n'],
    ["export type from", 'export type { Spawn } from "../lead/spawn.ts";\nexport const x = 1;\n'],
    ["require", 'export const x = require("../lead/spawn.ts");\n'],
  ])("as %s", (_, source) => {
    const [breach, ...more] = breachesOf("team/config.ts", source, LEAD);
    expect(breach).toBe(
      "src/team/config.ts:1: team/ imports lead/, which stands above it; move what it needs down to team/ or below, or hand it in as an argument.",
    );
    expect(more).toEqual([]);
  });

  test("and named with its own line", () => {
    const source =
      '/* one\n two */\nexport const a = "æ🙂";\nimport { spawn } from "../lead/spawn.ts";\nexport const x = spawn;\n';
    expect(breachesOf("team/config.ts", source, LEAD)[0]).toMatch(/^src\/team\/config\.ts:4: /);
  });
});

test("two folders of one level are held apart", () => {
  const source = 'import { agent } from "../agent/agent.ts";\nexport const x = agent;\n';
  expect(breachesOf("launch/script.ts", source, AGENT)[0]).toContain(
    "launch/ imports agent/, which stands on the same level",
  );
});

test("a backend never imports the agent, the agent never tmux, tmux no protocol", () => {
  const files = {
    ...AGENT,
    "backend/in-process.ts": 'import { agent } from "../agent/agent.ts";\nexport const x = agent;\n',
    "tmux/server.ts": 'import { m } from "../protocol/messages.ts";\nexport const server = m;\n',
    "agent/bad.ts": 'import { server } from "../tmux/server.ts";\nexport const x = server;\n',
    "protocol/messages.ts": "export const m = 1;\n",
  };
  const { breaches } = judge(files);
  expect(breaches).toHaveLength(3);
  for (const pair of ["backend/ imports agent/", "agent/ imports tmux/", "tmux/ imports protocol/"])
    expect(breaches.join("\n")).toContain(pair);
});

test("a folder that is not in the house is refused", () => {
  expect(breachesOf("utils/misc.ts", "export const x = 1;\n")[0]).toContain("utils/ is not in the house");
});

test("an import of no file, of one outside of src/, or of a name made at run time is refused", () => {
  const source = [
    'import { a } from "./gone.ts";',
    'import { b } from "../../scripts/b.ts";',
    "export const c = (name: string) => [a, b, import(name)];",
  ].join("\n");
  const breaches = breachesOf("team/config.ts", source);
  expect(breaches).toEqual([
    expect.stringContaining("src/team/config.ts:1: imports ./gone.ts, which is no file"),
    expect.stringContaining("src/team/config.ts:2: imports ../../scripts/b.ts, which is no file"),
    expect.stringContaining("src/team/config.ts:3: imports a name that is only known at run time"),
  ]);
});

describe("a ring of imports is refused", () => {
  test("between two files, once, also through types", () => {
    const files = {
      "team/a.ts": 'import type { B } from "./b.ts";\nexport type A = B;\n',
      "team/b.ts": 'import type { A } from "./a.ts";\nexport type B = A;\n',
    };
    expect(judge(files).breaches).toEqual([
      "src/team/a.ts:1: imports in a ring: team/a.ts → team/b.ts → team/a.ts; move what they share into a file below both.",
    ]);
  });

  test("between three, reached from a fourth", () => {
    const files = {
      "team/a.ts": 'import "./b.ts";\nexport const a = 1;\n',
      "team/b.ts": 'import "./c.ts";\nexport const b = 1;\n',
      "team/c.ts": 'import "./d.ts";\nexport const c = 1;\n',
      "team/d.ts": 'export const d = () => import("./b.ts");\n',
    };
    expect(judge(files).breaches).toEqual([
      expect.stringContaining("team/b.ts → team/c.ts → team/d.ts → team/b.ts"),
    ]);
  });
});

describe("an effect outside of its home is refused", () => {
  test.each([
    ["node:fs", 'import fs from "node:fs";\nexport const x = fs;\n'],
    ["node:fs", 'import fs from "fs";\nexport const x = fs;\n'],
    ["node:fs/promises", 'import { readFile } from "node:fs/promises";\nexport const x = readFile;\n'],
    ["node:fs", 'export type X = import("node:fs").Stats;\n'],
    ["node:child_process", 'export const x = () => import("node:child_process");\n'],
    [
      "node:timers/promises",
      'import { setTimeout as wait } from "node:timers/promises";\nexport const x = wait;\n',
    ],
    ["execa", 'export const x = () => import("execa");\n'],
    ["proper-lockfile", 'import lock from "proper-lockfile";\nexport const x = lock;\n'],
    ["blessed", 'import type { Widgets } from "blessed";\nexport type X = Widgets.Screen;\n'],
    ["blessed/lib/unicode", 'export const x = () => import("blessed/lib/unicode");\n'],
    ["@anthropic-ai/sdk", 'export const x = () => import("@anthropic-ai/sdk");\n'],
    ["commander", 'import { Command } from "commander";\nexport const x = Command;\n'],
    ["process.env", "export const x = process.env.HOME;\n"],
    ["process.env", 'export const x = process["env"];\n'],
    ["process.env", "export const x = globalThis.process.env;\n"],
    ["process.env", "const { env } = process;\nexport const x = env;\n"],
    ["process.env", 'import { env } from "node:process";\nexport const x = env;\n'],
    ["process.kill", "export const x = () => process.kill(1, 0);\n"],
    ["process.exit", "export const x = () => process.exit(1);\n"],
    ["process.exitCode", "export const x = () => { process.exitCode = 1; };\n"],
    ["process.stdout", "export const x = process.stdout;\n"],
    ["process.hrtime", "export const x = process.hrtime.bigint();\n"],
    ["Date.now", "export const x = Date.now();\n"],
    ["performance.now", "export const x = () => performance.now();\n"],
    ["AbortSignal.timeout", "export const x = AbortSignal.timeout(5);\n"],
    ["setTimeout", "export const x = () => setTimeout(() => {}, 5);\n"],
    ["setInterval", "export const x = () => setInterval(() => {}, 5);\n"],
    ["setTimeout", "export const x = (later = setTimeout) => later;\n"],
  ])("%s", (what, source) => {
    const breaches = breachesOf("team/mailbox.ts", source);
    expect(breaches).toHaveLength(1);
    expect(breaches[0]).toMatch(/^src\/team\/mailbox\.ts:\d+: \S+ .*whose only place is .*; \S/);
    expect(breaches[0]).toContain(what);
  });

  test.each(["new Date()", "Date()", "new globalThis.Date()"])("the time by %s", (clock) => {
    expect(breachesOf("team/mailbox.ts", `export const x = ${clock};\n`)).toEqual([
      expect.stringContaining("reads the time, which only os/ does"),
    ]);
  });

  test("process.exit in cli/, blessed beside sidebar/screen.ts", () => {
    expect(breachesOf("cli/program.ts", "export const x = () => process.exit(1);\n")).toHaveLength(1);
    expect(breachesOf("sidebar/widgets.ts", 'export const x = () => import("blessed");\n')).toHaveLength(1);
  });

  test("but a string, a comment or another object of that name is none", () => {
    const source = `// process.env and Date.now()\nexport const x = "setTimeout(process.env)";\nexport const y = (p: {env: 1}) => p.env;\n`;
    expect(breachesOf("team/mailbox.ts", source)).toEqual([]);
  });
});

describe("a barrel file is refused", () => {
  const OTHERS = { "team/a.ts": "export const a = 1;\n", "team/b.ts": "export const b = 1;\n" };

  test.each([
    ["export from", 'export { a } from "./a.ts";\nexport { b } from "./b.ts";\n'],
    ["import, then export", 'import { a } from "./a.ts";\nexport { a };\n'],
    ["export all", 'export * from "./a.ts";\n'],
  ])("as %s", (_, source) => {
    expect(breachesOf("team/all.ts", source, OTHERS)).toEqual([expect.stringContaining("is a barrel file")]);
  });

  test("as an index of a folder, or as `export *` among other code", () => {
    expect(breachesOf("team/index.ts", "export const x = 1;\n")).toHaveLength(1);
    expect(breachesOf("team/c.ts", 'export * from "./a.ts";\nexport const c = 1;\n', OTHERS)).toEqual([
      expect.stringContaining("exports all of another file"),
    ]);
  });
});

test("a heavy package that every start would load is named with the way to it", () => {
  const files = {
    "main.ts": 'import { run } from "./cli/program.ts";\nvoid run;\n',
    "cli/program.ts": 'import { Command } from "commander";\nexport const run = Command;\n',
  };
  expect(judge(files).breaches).toEqual([
    "src/cli/program.ts:1: loads commander at every start (main.ts → cli/program.ts); load it with await import() where it is used.",
  ]);
});

test("a file that does not parse fails the gate", () => {
  expect(breachesOf("team/config.ts", "export const = 1;\n")[0]).toContain("does not parse");
});
