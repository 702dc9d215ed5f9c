import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { SKILL } from "../../src/cli/skill/skill-text.ts";
import { git } from "../support/files/git.ts";
import { TEAMS } from "../support/processes/built-program.ts";
import { privateTmux } from "../support/tmux/private-tmux.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const call = promisify(execFile);

interface Page {
  readonly file: string;
  /** Commands that create what the page's first line expects. */
  readonly before?: readonly string[];
  /** Lines that another test runs, or that need what a test machine lacks, each with the reason. */
  readonly elsewhere: Readonly<Record<string, string>>;
}

const NEEDS_CLI = "needs that program; test/e2e/cli-members runs it with a stand-in";

const ON_A_TERMINAL = "draws on a terminal; test/e2e/cli/approvals-view runs it";

const PAGES: readonly Page[] = [
  {
    file: "README.md",
    elsewhere: {
      "scripts/demo": "test/e2e/audit runs what it starts",
      "scripts/test": "runs this test",
      "npm ci && npm run build && npm i -g .": "builds the program under test",
      'teams run "find out why the nightly build got slower, and fix it"': "test/e2e/run runs it with models",
      'teams spawn ada --cli claude --prompt "Review src/parser.ts."': NEEDS_CLI,
      'teams spawn eve --cli codex --prompt "Write the missing tests."': NEEDS_CLI,
      'teams run --cli codex "review this repository"': NEEDS_CLI,
      "teams approve ben": "ben asks for nothing without a model; test/integration/cli/approvals runs it",
    },
  },
  {
    file: "docs/leading-by-hand.md",
    elsewhere: { 'teams spawn eve --cli codex --prompt "Review it."': NEEDS_CLI },
  },
  {
    file: "teams skill",
    elsewhere: {
      "teams wait --tasks --timeout 600 --json":
        "no model completes the tasks; test/e2e/cli/teammates runs it",
      "teams wait --message --timeout 600 --json": "no model sends one; test/e2e/cli/teammates runs it",
    },
  },
  {
    file: "docs/team-files.md",
    before: ["teams create crew"],
    elsewhere: {},
  },
  {
    file: "docs/approvals.md",
    elsewhere: {
      "teams approvals -i": ON_A_TERMINAL,
      "teams approvals -i ben": ON_A_TERMINAL,
    },
  },
  {
    file: "docs/landing.md",
    before: [
      "git branch release",
      "teams create app",
      "teams spawn dev --worktree --prompt Begin.",
      "teams spawn tester --worktree --prompt Begin.",
      "teams wait dev tester --idle",
    ],
    elsewhere: {},
  },
  {
    file: "docs/tasks.md",
    before: ["teams create app", "teams spawn ada --prompt Begin.", "teams spawn rev --prompt Begin."],
    elsewhere: {},
  },
  { file: "docs/tmux.md", before: ["teams create review"], elsewhere: {} },
  { file: "docs/troubleshooting.md", before: ["teams create review"], elsewhere: {} },
];

it.each(PAGES)("$file › every command line runs", async ({ file, before = [], elsewhere }) => {
  const own = privateTmux();
  const { pane, session } = own.session();
  await own.attach(session);
  const repository = join(own.home, "parser");
  mkdirSync(join(repository, "src"), { recursive: true });
  writeFileSync(join(repository, "src", "parser.ts"), "export const parse = JSON.parse;\n");
  git(repository, "init", "--quiet", "--initial-branch=main");
  git(repository, "add", ".");
  git(repository, "commit", "--quiet", "--message=start");
  const bin = join(own.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "teams"), `#!/bin/sh\nexec ${process.execPath} ${TEAMS} "$@"\n`);
  chmodSync(join(bin, "teams"), 0o755);
  const env = { ...own.inside(pane), PATH: `${bin}:${own.env.PATH}` };
  const lines = commandLines(file === "teams skill" ? SKILL : readFileSync(join(ROOT, file), "utf8"));
  expect(lines.length).toBeGreaterThan(0);
  expect(Object.keys(elsewhere).filter((line) => !lines.includes(line))).toEqual([]);
  for (const line of [...before, ...lines.filter((one) => !Object.hasOwn(elsewhere, one))]) {
    const problem = await call("/bin/sh", ["-c", line], { cwd: repository, env, timeout: 180_000 }).then(
      () => undefined,
      (error: { stderr?: string; stdout?: string }) => `${error.stdout ?? ""}${error.stderr ?? ""}`,
    );
    expect({ line, problem }).toEqual({ line, problem: undefined });
  }
});

/** Returns the command lines of a page's shell blocks, without comments. A line that ends in a backslash continues. */
function commandLines(page: string): string[] {
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, "").split("\n"));
  return lines.map((line) => line.replace(/(?:^|\s)#.*$/, "").trim()).filter((line) => line !== "");
}
