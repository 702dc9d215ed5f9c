import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { documentViolations, layerViolations } from "../../scripts/lib/layer-gate.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

type Files = Readonly<Record<string, string>>;

const judge = (files: Files): string[] => layerViolations(new Map(Object.entries(files)));

/** Returns the violations of one file in a tree with the other files, which its imports may name. */
function violationsOf(file: string, source: string, others: Files = {}): string[] {
  return judge({ ...others, [file]: source });
}

const OPERATION = { "operations/spawn/spawn.ts": "export const spawn = 1;\nexport type Spawn = 1;\n" };
const AGENT = { "agent/agent.ts": "export const agent = 1;\n" };

describe("layerViolations", () => {
  test("accepts a tree without violations", () => {
    const files = {
      "errors.ts": "export class TeamError extends Error {}\n",
      "schema/names.ts":
        'import { TeamError } from "../errors.ts";\nexport const bad = () => new TeamError("x");\n',
      "os/files/fs.ts":
        'import fs from "node:fs";\nexport const now = () => Date.now();\nexport const read = fs.readFileSync;\n',
      "team/config/config.ts":
        'import { read } from "../../os/files/fs.ts";\nimport { bad } from "../members/members.ts";\nexport const a = [read, bad];\n',
      "team/members/members.ts":
        'export { bad } from "../../schema/names.ts";\nexport const at = (ms: number) => new Date(ms);\n',
      "cli/program.ts":
        'import { Command } from "commander";\nimport { a } from "../team/config/config.ts";\nexport const run = () => process.stdout.write(String([a, Command]));\n',
      "sidebar/screen.ts": 'export const screen = async () => (await import("blessed")).screen();\n',
      "main.ts": 'void import("./cli/program.ts").then(({ run }) => process.exit(run() ? 0 : 1));\n',
      "index.ts": 'export { a } from "./team/config/config.ts";\nexport { TeamError } from "./errors.ts";\n',
    };
    expect(judge(files)).toEqual([]);
  });

  test("accepts this project's own tree and its table in docs/architecture.md", () => {
    const src = join(ROOT, "src");
    const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
      /\.ts$/.test(file),
    );
    const sources = new Map(files.map((file) => [file, readFileSync(join(src, file), "utf8")]));
    expect(layerViolations(sources)).toEqual([]);
    const document = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
    expect(documentViolations(document, files)).toEqual([]);
  });
});

describe("layerViolations › refuses an import of a higher layer", () => {
  test.each([
    ["import", 'import { spawn } from "../../operations/spawn/spawn.ts";\nexport const x = spawn;\n'],
    [
      "import type",
      'import type { Spawn } from "../../operations/spawn/spawn.ts";\nexport type X = Spawn;\n',
    ],
    ["import for its effect", 'import "../../operations/spawn/spawn.ts";\nexport const x = 1;\n'],
    ["import()", 'export const x = () => import("../../operations/spawn/spawn.ts");\n'],
    ["import() of a template", "export const x = () => import(`../../operations/spawn/spawn.ts`);\n"],
    ["a type of import()", 'export type X = import("../../operations/spawn/spawn.ts").Spawn;\n'],
    ["export from", 'export { spawn } from "../../operations/spawn/spawn.ts";\nexport const x = 1;\n'],
    [
      "export type from",
      'export type { Spawn } from "../../operations/spawn/spawn.ts";\nexport const x = 1;\n',
    ],
    ["require", 'export const x = require("../../operations/spawn/spawn.ts");\n'],
  ])("as %s", (_, source) => {
    expect(violationsOf("team/config/config.ts", source, OPERATION)).toEqual([
      "src/team/config/config.ts:1: team/ imports operations/, which is in a higher layer; move what it needs down to team/ or below, or pass it in as an argument.",
    ]);
  });

  test("and names the line", () => {
    const source =
      '/* one\n two */\nexport const a = "æ🙂";\nimport { spawn } from "../../operations/spawn/spawn.ts";\nexport const x = spawn;\n';
    expect(violationsOf("team/config/config.ts", source, OPERATION)[0]).toMatch(
      /^src\/team\/config\/config\.ts:4: /,
    );
  });
});

describe("layerViolations", () => {
  test("refuses imports in one layer", () => {
    const source = 'import { agent } from "../agent/agent.ts";\nexport const x = agent;\n';
    expect(violationsOf("launch/script.ts", source, AGENT)[0]).toContain(
      "launch/ imports agent/, which is in the same layer",
    );
  });

  test("refuses the pairs that the architecture forbids", () => {
    const files = {
      ...AGENT,
      "backend/in-process.ts": 'import { agent } from "../agent/agent.ts";\nexport const x = agent;\n',
      "tmux/server.ts": 'import { m } from "../protocol/messages.ts";\nexport const server = m;\n',
      "agent/bad.ts": 'import { server } from "../tmux/server.ts";\nexport const x = server;\n',
      "protocol/messages.ts": "export const m = 1;\n",
    };
    const violations = judge(files);
    expect(violations).toHaveLength(3);
    for (const pair of ["backend/ imports agent/", "agent/ imports tmux/", "tmux/ imports protocol/"])
      expect(violations.join("\n")).toContain(pair);
  });

  test("refuses a folder that is in no layer", () => {
    expect(violationsOf("utils/misc.ts", "export const x = 1;\n")[0]).toContain("utils/ is in no layer");
  });

  test("refuses imports of missing files, of files outside src/, and of paths built at run time", () => {
    const source = [
      'import { a } from "./gone.ts";',
      'import { b } from "../../../scripts/b.ts";',
      "export const c = (name: string) => [a, b, import(name)];",
    ].join("\n");
    expect(violationsOf("team/config/config.ts", source)).toEqual([
      expect.stringContaining("src/team/config/config.ts:1: imports ./gone.ts, which is not a file"),
      expect.stringContaining(
        "src/team/config/config.ts:2: imports ../../../scripts/b.ts, which is not a file",
      ),
      expect.stringContaining("src/team/config/config.ts:3: imports a path that is only known at run time"),
    ]);
  });

  test("refuses a barrel file", () => {
    const others = { "team/a.ts": "export const a = 1;\n", "team/b.ts": "export const b = 1;\n" };
    for (const source of [
      'export { a } from "./a.ts";\nexport { b } from "./b.ts";\n',
      'import { a } from "./a.ts";\nexport { a };\n',
      'export * from "./a.ts";\n',
    ])
      expect(violationsOf("team/all.ts", source, others)).toEqual([
        expect.stringContaining("is a barrel file"),
      ]);
    expect(violationsOf("team/index.ts", "export const x = 1;\n")).toHaveLength(1);
    expect(violationsOf("team/c.ts", 'export * from "./a.ts";\nexport const c = 1;\n', others)).toEqual([
      expect.stringContaining("re-exports another file as a whole"),
    ]);
  });

  test("names the import path to a heavy package that every start would load", () => {
    const files = {
      "main.ts": 'import { run } from "./cli/program.ts";\nvoid run;\n',
      "cli/program.ts": 'import { Command } from "commander";\nexport const run = Command;\n',
    };
    expect(judge(files)).toEqual([
      "src/cli/program.ts:1: loads commander at every start (main.ts → cli/program.ts); load it with await import() where it is used.",
    ]);
  });

  test("refuses a file that cannot be parsed", () => {
    expect(violationsOf("team/config/config.ts", "export const = 1;\n")[0]).toContain("does not parse");
  });

  test("refuses a folder of 23 files and a file of 301 lines", () => {
    const many = Object.fromEntries(
      Array.from({ length: 23 }, (_, i) => [`team/tasks/t${i}.ts`, "export const x = 1;\n"]),
    );
    expect(judge(many)).toEqual([expect.stringContaining("is one of 23 files in team/tasks/")]);
    expect(violationsOf("team/long.ts", "export const x = 1;\n".repeat(301))).toEqual([
      expect.stringContaining("src/team/long.ts:301: has 301 lines"),
    ]);
  });
});

describe("layerViolations › refuses an import cycle", () => {
  test("of two files once, even if only types are imported", () => {
    const files = {
      "team/a.ts": 'import type { B } from "./b.ts";\nexport type A = B;\n',
      "team/b.ts": 'import type { A } from "./a.ts";\nexport type B = A;\n',
    };
    expect(judge(files)).toEqual([
      "src/team/a.ts:1: is part of an import cycle: team/a.ts → team/b.ts → team/a.ts; move what they share into a file below both.",
    ]);
  });

  test("of three files, reached from a fourth", () => {
    const files = {
      "team/a.ts": 'import "./b.ts";\nexport const a = 1;\n',
      "team/b.ts": 'import "./c.ts";\nexport const b = 1;\n',
      "team/c.ts": 'import "./d.ts";\nexport const c = 1;\n',
      "team/d.ts": 'export const d = () => import("./b.ts");\n',
    };
    expect(judge(files)).toEqual([expect.stringContaining("team/b.ts → team/c.ts → team/d.ts → team/b.ts")]);
  });

  test("of two subfolders whose files form no cycle", () => {
    const files = {
      "team/inbox/a.ts": 'import "../tasks/b.ts";\nexport const a = 1;\n',
      "team/tasks/b.ts": "export const b = 1;\n",
      "team/tasks/c.ts": 'import "../inbox/d.ts";\nexport const c = 1;\n',
      "team/inbox/d.ts": "export const d = 1;\n",
    };
    expect(judge(files)).toEqual([
      "src/team/inbox/a.ts:1: closes a cycle of folders: team/inbox/ → team/tasks/ → team/inbox/; move what they share into the lower one.",
    ]);
  });
});

describe("layerViolations › refuses a side effect outside the folders that may have it", () => {
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
    const violations = violationsOf("team/mailbox/send.ts", source);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toMatch(/^src\/team\/mailbox\/send\.ts:\d+: \S+ .*which only .* may; \S/);
    expect(violations[0]).toContain(what);
  });

  test.each(["new Date()", "Date()", "new globalThis.Date()"])("the time read by %s", (clock) => {
    expect(violationsOf("team/mailbox/send.ts", `export const x = ${clock};\n`)).toEqual([
      expect.stringContaining("reads the time, which only os/ may"),
    ]);
  });

  test("process.exit in cli/, blessed outside sidebar/screen.ts", () => {
    expect(violationsOf("cli/program.ts", "export const x = () => process.exit(1);\n")).toHaveLength(1);
    expect(violationsOf("sidebar/widgets.ts", 'export const x = () => import("blessed");\n')).toHaveLength(1);
  });

  test("but accepts a string, a comment and a field of another object", () => {
    const source = `// process.env and Date.now()\nexport const x = "setTimeout(process.env)";\nexport const y = (p: {env: 1}) => p.env;\n`;
    expect(violationsOf("team/mailbox/send.ts", source)).toEqual([]);
  });
});

describe("documentViolations", () => {
  const table =
    "| layer | folder | holds |\n| --- | --- | --- |\n| 3 | `store/` | files |\n| 1 | `errors.ts` | errors |\n";

  test("accepts a table that lists each folder in its layer", () => {
    expect(documentViolations(table, ["store/lock.ts", "errors.ts"])).toEqual([]);
  });

  test("reports folders that are missing, gone or in another layer", () => {
    expect(documentViolations(table, ["errors.ts", "store/lock.ts", "team/tasks/a.ts"])).toEqual([
      "docs/architecture.md does not list team/tasks/; add a row that says what it holds.",
      "docs/architecture.md does not list team/; add a row that says what it holds.",
    ]);
    expect(documentViolations(table, ["errors.ts"])).toEqual([
      "docs/architecture.md lists store/, which does not exist in src/; remove its row.",
    ]);
    expect(documentViolations(table.replace("| 3 |", "| 4 |"), ["errors.ts", "store/lock.ts"])).toEqual([
      "docs/architecture.md puts store/ in layer 4; the gate has it in layer 3.",
    ]);
    expect(
      documentViolations(`${table}The lock: \`store/key.ts\`.\n`, ["errors.ts", "store/lock.ts"]),
    ).toEqual([
      "docs/architecture.md names store/key.ts, which does not exist in src/; name the file that replaced it.",
    ]);
  });
});
