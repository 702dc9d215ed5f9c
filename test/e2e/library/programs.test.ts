import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { git } from "../../support/files/git.ts";
import { removeTree } from "../../support/files/remove-tree.ts";
import { type InstalledPackage, installPackage } from "../../support/package/installed-package.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/library.md"), "utf8");
/** The programs of the page by their names. */
const PROGRAMS = Object.fromEntries(
  [...PAGE.matchAll(/```[jt]s\n\/\/ (\S+)\n([\s\S]*?)```/g)].map(([, name = "", text = ""]) => [name, text]),
);
/** The other examples of the page. */
const EXAMPLES = [...PAGE.matchAll(/```ts\n(?!\/\/ )([\s\S]*?)```/g)].map(([, text = ""]) => text);

let installed: InstalledPackage;
beforeAll(() => {
  installed = installPackage();
  const examples = Object.fromEntries(EXAMPLES.map((text, i) => [`example-${i}.mts`, text]));
  expect(installed.compile({ ...examples, ...PROGRAMS })).toBe("");
});
afterAll(() => removeTree(installed.directory));

interface Turn {
  readonly on?: Readonly<Record<string, string>>;
  readonly say?: string;
  readonly tools?: readonly { readonly name: string; readonly input: object; readonly as?: string }[];
  readonly usage?: object;
  readonly delayMs?: number;
}

/** Runs a program of the page, whose agents play these turns. */
async function run(
  name: string,
  agents: Readonly<Record<string, readonly Turn[]>>,
  { own = privateTmux(), env = {} }: { readonly own?: PrivateTmux; readonly env?: object } = {},
): Promise<{ readonly out: string; readonly own: PrivateTmux }> {
  const playbook = join(own.home, "play.json");
  writeFileSync(playbook, JSON.stringify({ version: 1, agents }));
  const file = join(installed.directory, "out", name.replace(/mts$/, "mjs"));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], {
    ...{ cwd: own.home, timeout: 240_000 },
    env: { ...own.env, MODEL: `scripted:${playbook}`, ...env },
  });
  expect(stderr).toBe("");
  return { out: stdout, own };
}

const toLead = (content: string) => ({
  name: "SendMessage",
  input: { type: "message", recipient: "team-lead", content, summary: "the answer" },
});

/** Returns the teams that a program has left. */
async function teamsOf(own: PrivateTmux): Promise<unknown> {
  return (await teamsIn(own.env, own.home)(["ls", "--json"])).json().teams;
}

describe("docs/library.md", () => {
  it("has ten programs and one for CommonJS", () => {
    expect(Object.keys(PROGRAMS).filter((name) => name.endsWith(".mts"))).toHaveLength(10);
    expect(Object.keys(PROGRAMS).filter((name) => name.endsWith(".cjs"))).toEqual(["status.cjs"]);
  });

  it("ask › prints the teammate's answer, and leaves nothing", async () => {
    const { out, own } = await run("ask.mts", {
      ada: [{ on: { contains: "How many" }, tools: [toLead("3 files")] }],
    });
    expect(out).toBe("ada: 3 files\n");
    expect(await teamsOf(own)).toEqual([]);
  });

  it("review › prints the findings of three reviewers", async () => {
    const own = privateTmux();
    writeFileSync(join(own.home, "a.txt"), "one\n");
    git(own.home, "init", "-q");
    git(own.home, "add", "a.txt");
    git(own.home, "commit", "-q", "-m", "one");
    writeFileSync(join(own.home, "a.txt"), "two\n");
    const turns = (text: string) => [{ on: { contains: "+two" }, tools: [toLead(text)] }];
    const agents = { security: turns("No hole."), speed: turns("Fast."), tests: turns("No test.") };
    const { out } = await run("review.mts", agents, { own });
    expect(out.split("\n\n").sort()).toEqual([
      "",
      "## security\nNo hole.",
      "## speed\nFast.",
      "## tests\nNo test.",
    ]);
  });

  it("tasks › completes both tasks, and proves the first", async () => {
    const { out } = await run("tasks.mts", {
      dev: [
        {
          on: { matches: "(^|\\n)Task #1 is assigned" },
          tools: [{ name: "Write", input: { file_path: "notes.txt", content: "a note\n" } }],
        },
        {
          on: { tool: "Write" },
          tools: [{ name: "TaskUpdate", input: { taskId: "1", status: "completed" }, as: "first" }],
        },
        {
          on: { tool: "TaskUpdate", contains: "Write notes.txt" },
          tools: [{ name: "TaskUpdate", input: { taskId: "2", status: "completed" } }],
        },
      ],
    });
    expect(out).toBe("2 tasks are completed.\nWrite notes.txt: passed\nRead it again: none\n");
  });

  it("ci › plays the recording, and prints its events and its result", async () => {
    const own = privateTmux();
    const [, example = ""] =
      /```json\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "docs/playbooks.md"), "utf8")) ?? [];
    writeFileSync(join(own.home, "ci.json"), example);
    const { out } = await run("ci.mts", {}, { own });
    expect(out).toMatch(/^Done: there is nobody left\. \(\d+ s\)$/m);
    expect(out).toMatch(/^\S+Z agent team-lead@/m);
    expect(out).toMatch(/^\S+Z message ada@/m);
    expect(await teamsOf(own)).toEqual([]);
  });

  it("bot › allows a tag, and refuses the push", async () => {
    const bash = (command: string) => ({ name: "Bash", input: { command } });
    const { out } = await run("bot.mts", {
      dev: [
        { on: { contains: "Tag this" }, tools: [bash("git tag v1.0")] },
        { on: { tool: "Bash" }, tools: [bash("git push origin v1.0")] },
        { on: { tool: "Bash" }, say: "Tagged, not pushed." },
      ],
    });
    expect(out).toBe("allowed: git tag v1.0\nrefused: git push origin v1.0\n");
  });

  it("follow › prints the turns, and counts the tokens", async () => {
    const { out } = await run("follow.mts", {
      ada: [{ on: { contains: "README" }, say: "It is short.", usage: { input: 100, output: 20 } }],
    });
    expect(out).toMatch(/^ada@followed turn_started$/m);
    expect(out).toMatch(/^120 tokens, 0 US dollars$/m);
  });

  it("limited › prints the result, or that the time was too short", async () => {
    const lead = { "team-lead": [{ say: "A home." }] };
    expect((await run("limited.mts", lead)).out).toBe("A home.\n");
    const slow = { "team-lead": [{ say: "A home.", delayMs: 600_000 }] };
    const { out } = await run("limited.mts", slow, { env: { LIMIT_MS: "5000" } });
    // The time may run out while the lead is alone: such a team is not kept.
    expect(out).toMatch(/^Too slow\.\n(To continue: teams run --resume --team run-[0-9a-f]{4}\n)?$/);
  });

  it("plans › rejects a plan without a test, and approves the next one", async () => {
    const plan = (text: string) => ({ name: "ExitPlanMode", input: { plan: text } });
    const { out } = await run("plans.mts", {
      ada: [
        { on: { contains: "Plan how" }, tools: [plan("Add a cache.")] },
        { on: { contains: "is rejected" }, tools: [plan("Add a cache, and a test of it.")] },
        { on: { contains: "is approved" }, tools: [toLead("It is done.")] },
      ],
    });
    expect(out).toBe("rejected\napproved\n");
  });

  it("evening › saves the team, and continues it with its conversation", async () => {
    const { out, own } = await run("evening.mts", {
      ada: [
        { on: { contains: "Begin with" }, say: "I began." },
        { on: { contains: "Good morning" }, say: "At line 3." },
      ],
    });
    expect(out).toMatch(/^Saved \S+\/long-\d+-\d+\.tar\.gz: \d+ bytes\nada: restarted\n$/);
    expect(await teamsOf(own)).toEqual([]);
  });

  it("waiting › lists the teams", async () => {
    const own = privateTmux();
    await teamsIn(own.env, own.home)(["create", "quiet"]);
    expect((await run("waiting.mts", {}, { own })).out).toBe("quiet: stopped, 0 waiting\n");
  });

  it("status.cjs › works in CommonJS, with the same class of errors", async () => {
    expect((await run("status.cjs", {})).out).toBe("1 member, 1 task\ntrue TEAM_NOT_FOUND\n");
  });
});

it("a program with the library › gets no listeners and no output, and exits on its own", async () => {
  const own = privateTmux();
  const file = join(installed.directory, "quiet.mjs");
  writeFileSync(
    file,
    `import { createTeam, runTeam } from "tmux-teams";
    const listeners = () => JSON.stringify(process.eventNames().map((name) => [name, process.listenerCount(name)]));
    const before = listeners();
    const stop = new AbortController();
    const { signal } = stop;
    const team = await createTeam("quiet");
    const events = team.events({ signal });
    const next = events.next();
    await team.spawn("ada", { model: process.env.MODEL, prompt: "Wait.", signal });
    await team.spawn("ben", { model: process.env.MODEL, teammateMode: "process", signal });
    await team.wait({ signal });
    await team.tasks.add({ subject: "s", verify: "true" });
    await team.tasks.done("1", { signal });
    await team.export(undefined, { signal });
    await team.kill(undefined, { force: true, signal });
    await team.delete();
    await runTeam({ model: process.env.MODEL, goal: "Nothing.", onEvent: () => undefined, signal });
    await next;
    stop.abort();
    if (listeners() !== before) throw new Error(before + listeners());`,
  );
  const playbook = join(own.home, "play.json");
  writeFileSync(
    playbook,
    JSON.stringify({ version: 1, agents: { "team-lead": [{ say: "Nothing." }], ada: [{ say: "I wait." }] } }),
  );
  const options = { cwd: own.home, env: { ...own.env, MODEL: `scripted:${playbook}` }, timeout: 240_000 };
  expect(await promisify(execFile)(process.execPath, [file], options)).toEqual({ stdout: "", stderr: "" });
});

describe("the installed package", () => {
  it("installs only blessed and itself, with less than 15 MB", () => {
    expect(installed.packages).toEqual(["blessed", "tmux-teams"]);
    expect(installed.bytes).toBeLessThan(15_000_000);
  });

  it("contains the docs, the types and the licences, and no source", () => {
    const { packed } = installed;
    expect(packed).toEqual(
      expect.arrayContaining([
        "docs/library.md",
        "dist/index.d.mts",
        "dist/index.d.cts",
        "dist/LICENSES.txt",
      ]),
    );
    expect(packed.filter((path) => /^(src|test|scripts)\//.test(path))).toEqual([]);
    const licences = readFileSync(join(ROOT, "dist/LICENSES.txt"), "utf8");
    for (const name of ["zod", "execa", "@modelcontextprotocol/client", "commander"])
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, "m"));
  });

  it("has types that import no package, and their examples compile", () => {
    const types = readFileSync(join(ROOT, "dist/index.d.mts"), "utf8");
    expect(types).not.toMatch(/^import |\bz\.|import\(/m);
    const examples = [...types.matchAll(/@example\n([\s\S]*?)\*\//g)].map(([, text = ""]) =>
      text.replaceAll(/^\s*\* ?/gm, ""),
    );
    expect(examples.length).toBeGreaterThan(40);
    const head = `import { createTeam, listTeams, openTeam, runTeam, type Team, type Teammate } from "tmux-teams";
      declare const team: Team; declare const teammate: Teammate; declare const signal: AbortSignal;
      void [createTeam, listTeams, openTeam, runTeam, team, teammate, signal];`;
    const bodies = examples.map((text, i) => `export async function example${i}() {\n${text}\n}`);
    expect(installed.compile({ "examples.mts": `${head}\n${bodies.join("\n")}` })).toBe("");
  });

  it("has types that refuse misspelled names, unknown codes and changes", () => {
    const head = `import { openTeam, runTeam, TeamError } from "tmux-teams";\nconst team = await openTeam("t");\n`;
    const wrong = [
      "(await team.tasks.get('1')).statsu;",
      "await team.spawn('ada', { promt: 'x' });",
      "await team.setMode('ada', 'acceptEdit');",
      "if (new TeamError('TIMEOUT', '').code === 'TIMOUT') team.name;",
      "(await team.status()).members.push();",
      "team.name = 'other';",
      "await team.approvals.approve('perm-1', { mode: 'plan' });",
      "await team.wait({ timeout: 5 });",
      "if ((await team.shutdown())[0]?.outcome === 'timed_out') team.name;",
      "(await runTeam({ goal: 'x' })).changes?.[0]?.files[0]?.lines;",
      "if ((await runTeam({ goal: 'x' })).tasks?.[0]?.shown === 'pased') team.name;",
    ];
    const problems = installed.compile({ "wrong.mts": head + wrong.join("\n") });
    const lines = [...problems.matchAll(/^wrong\.mts\((\d+),/gm)].map(([, line]) => Number(line) - 3);
    expect(lines.map((line) => wrong[line])).toEqual(wrong);
  });
});
