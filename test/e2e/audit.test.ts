import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { hasEnvEntry, processTable, signalProcess } from "../../src/os/process/process-table.ts";
import { statusRecord } from "../../src/schema/status.ts";
import { GIT_IDENTITY } from "../support/files/git.ts";
import { TEAMS } from "../support/processes/built-program.ts";
import { eventually } from "../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../support/tmux/private-tmux.ts";

const DEMO = fileURLToPath(new URL("../../scripts/demo", import.meta.url));
const PLAYBOOK = fileURLToPath(new URL("../../src/playbooks/audit.json", import.meta.url));
const QUICK = { TEAMS_PLAYBOOK_SPEED: "5" };

/** Creates a repository whose file names try to break out of every text that contains them. */
function repository(own: PrivateTmux): string {
  const repo = join(own.home, "a 'repo' with $(touch pwned)");
  const files = {
    "src/main.ts": "// TODO: one\nexport {};\n",
    "src/$(touch pwned) `x`; 'q'.py": "# FIXME\n# TODO and FIXME\n",
    "test/main.test.ts": "x\n",
    "über 検査\nTracked files: 99.md": "text\n".repeat(100),
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, name)), { recursive: true });
    writeFileSync(join(repo, name), content);
  }
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: repo, env: gitEnv(own), stdio: "pipe" });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", "one");
  writeFileSync(join(repo, "src/main.ts"), "// TODO: one\nexport const a = 1;\n");
  git("commit", "-q", "-a", "-m", "two");
  return repo;
}

function gitEnv({ env }: PrivateTmux): NodeJS.ProcessEnv {
  return { ...env, ...GIT_IDENTITY };
}

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
}

/** Starts a program without a terminal. */
function start(own: PrivateTmux, cwd: string, argv: readonly string[], env: NodeJS.ProcessEnv = QUICK): Run {
  const [program = "", ...words] = argv;
  const child = spawn(program, words, {
    cwd,
    env: { ...own.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = { out: "", err: "" };
  child.stdout.on("data", (data: Buffer) => (texts.out += data));
  child.stderr.on("data", (data: Buffer) => (texts.err += data));
  return {
    child,
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, ...texts }))),
  };
}

const audit = (...words: string[]): string[] => [
  process.execPath,
  TEAMS,
  "run",
  "--model",
  "scripted",
  ...words,
];

/** Asserts that no pane, process, FIFO, lock or team of the run is left (S41). */
async function expectNothingLeft(own: PrivateTmux): Promise<void> {
  const marker = `TEAMS_TEST=${own.env.TEAMS_TEST}`;
  await eventually("the end of all processes", () =>
    processTable().every((row) => !hasEnvEntry(row.pid, marker)),
  );
  const panes = spawnSync("tmux", ["-L", own.env.TEAMS_TMUX_SOCKET ?? "", "list-panes", "-a"], {
    env: own.env,
    encoding: "utf8",
  });
  expect(panes.stdout).toBe("");
  // The launcher for bindings of tmux belongs to no team.
  expect(filesBelow(own.runtime).filter((file) => file !== "teams/.bin/teams")).toEqual([]);
  const left = filesBelow(own.root).filter(
    (file) => !/^(teams-sessions\/|shell-snapshots\/|plans\/|debug\/|teams-ended\.json$)/.test(file),
  );
  expect(left).toEqual([]);
}

function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}

/** Waits until this teammate works, and returns its process id. */
async function workingPid(own: PrivateTmux, team: string, name: string): Promise<number> {
  const file = own.paths(team).agent(name).status;
  const runningPid = () => {
    if (!existsSync(file)) return undefined;
    const { state, process: agent } = statusRecord.parse(JSON.parse(readFileSync(file, "utf8")));
    return state === "running" ? agent.pid : undefined;
  };
  return eventually(`${name} to be running`, runningPid);
}

test("audit › reports the same figures as git, wc and grep, pauses for less than a minute, and leaves nothing", async () => {
  const own = privateTmux();
  const repo = repository(own);
  const { code, out, err } = await start(own, repo, audit(), {}).ended;
  expect(err).not.toContain("teams:");
  expect(code).toBe(0);
  const pauses = [...readFileSync(PLAYBOOK, "utf8").matchAll(/"delayMs": (\d+)/g)].map(([, ms]) =>
    Number(ms),
  );
  expect(pauses.length).toBeGreaterThan(10);
  // The sum assumes that no two agents work at the same time.
  expect(pauses.reduce((sum, ms) => sum + ms)).toBeLessThan(45_000);
  // A lead that does not answer a notice shows no line for it.
  expect(out).not.toContain("said nothing");
  // The lead's answers to plans are not shown either.
  expect(out).not.toMatch(/SendMessage \{|plan_approval-/);
  await expectNothingLeft(own);

  const shell = (command: string) =>
    execFileSync("sh", ["-c", command], { cwd: repo, env: gitEnv(own), encoding: "utf8" }).trim();
  const report = readFileSync(join(repo, "AUDIT.md"), "utf8");
  const lines = report.split("\n");
  expect(lines[0]).toBe("<!-- written by teams: audit -->");
  const largest = "über 検査\\nTracked files: 99.md";
  for (const line of [
    `Tracked files: ${shell("git ls-files | wc -l")}`,
    `Lines of text: ${shell("git ls-files -z | xargs -0 cat -- | wc -l")}`,
    `Lines with TODO or FIXME: ${shell("git ls-files -z | xargs -0 cat -- | grep -cE 'TODO|FIXME'")} in 2 files`,
    `Largest file: ${largest} (${shell("cat -- über* | wc -c")} bytes)`,
    `Most touched file: src/main.ts (${shell("git log --format= --name-only -- src/main.ts | wc -l")} commits)`,
    "Test files: 1 of 4 tracked files",
  ]) {
    expect(lines).toContain(`    ${line}`);
    expect(out).toContain(line);
  }
  expect(lines).toContain("The largest file was touched by 1 commit.");
  expect(lines.filter((line) => line.startsWith("    Tracked files: "))).toHaveLength(1);
  expect(readdirSync(repo).sort()).toEqual(
    [".git", "AUDIT.md", "src", "test", "über 検査\nTracked files: 99.md"].sort(),
  );

  // The question and its answer were exchanged between teammates.
  const conversations = filesBelow(join(own.root, "teams-sessions")).map((file) =>
    readFileSync(join(own.root, "teams-sessions", file), "utf8"),
  );
  const heard = (from: string, text: string) =>
    conversations.filter((one) => one.includes(`teammate_id=\\"${from}\\"`) && one.includes(text)).length;
  expect(heard("scout", "How many commits touched the largest file")).toBeGreaterThan(0);
  expect(heard("historian", "The largest file was touched by 1 commit")).toBeGreaterThan(0);
});

describe("audit report", () => {
  test("is written to the given path, even from a subdirectory, and replaces an older one", async () => {
    const own = privateTmux();
    const repo = repository(own);
    const report = join(own.home, "the report.md");
    writeFileSync(report, "<!-- written by teams: audit -->\n# Old\n");
    const { code } = await start(own, join(repo, "src"), audit("--report", report)).ended;
    expect(code).toBe(0);
    expect(readFileSync(report, "utf8")).toContain("\n    Tracked files: 4\n");
    expect(existsSync(join(repo, "AUDIT.md"))).toBe(false);
    await expectNothingLeft(own);
  });

  test("does not replace a file that no audit wrote: the run fails before it creates anything", async () => {
    const own = privateTmux();
    const repo = repository(own);
    writeFileSync(join(repo, "AUDIT.md"), "# Mine\n");
    const { code, err } = await start(own, repo, audit()).ended;
    expect(code).toBe(2);
    expect(err).toMatch(/AUDIT\.md exists and was not written by an audit.*\n +hint: /);
    expect(readFileSync(join(repo, "AUDIT.md"), "utf8")).toBe("# Mine\n");
    await expectNothingLeft(own);
  });

  test("does not replace a file that appeared during the run, and the run ends", async () => {
    const own = privateTmux();
    const repo = repository(own);
    const run = start(own, repo, audit("--team", "late"), { TEAMS_PLAYBOOK_SPEED: "2" });
    await workingPid(own, "late", "scout");
    writeFileSync(join(repo, "AUDIT.md"), "# Mine\n");
    const { code, out } = await run.ended;
    expect(code).toBe(1);
    expect(out).toContain("The audit stopped");
    expect(readFileSync(join(repo, "AUDIT.md"), "utf8")).toBe("# Mine\n");
    await expectNothingLeft(own);
  });
});

test("audit › ends the team without leftovers on Ctrl-C", async () => {
  const own = privateTmux();
  const run = start(own, repository(own), audit("--team", "stopped"), {});
  await workingPid(own, "stopped", "historian");
  run.child.kill("SIGINT");
  expect((await run.ended).code).toBe(130);
  await expectNothingLeft(own);
});

test("audit › ends without a report or leftovers when a teammate is killed (S33)", async () => {
  const own = privateTmux();
  const repo = repository(own);
  const run = start(own, repo, audit("--team", "killed"), { TEAMS_PLAYBOOK_SPEED: "2" });
  signalProcess(await workingPid(own, "killed", "historian"), "SIGKILL");
  const { code, out } = await run.ended;
  expect(code).toBe(1);
  expect(out).not.toContain("The audit is done");
  expect(existsSync(join(repo, "AUDIT.md"))).toBe(false);
  await expectNothingLeft(own);
});

describe("scripts/demo", () => {
  test("audits the current repository, says how to attach, and removes its home", async () => {
    const own = privateTmux();
    const repo = repository(own);
    const scratch = join(own.home, "tmp");
    mkdirSync(scratch);
    const { code, out, err } = await start(own, repo, [DEMO], { ...QUICK, TMPDIR: scratch }).ended;
    expect(err).toMatch(/To watch it: tmux -L \S+ attach -t teams-demo-/);
    expect(code).toBe(0);
    expect(out).toContain("Tracked files: 4");
    expect(readFileSync(join(repo, "AUDIT.md"), "utf8")).toContain("\n    Tracked files: 4\n");
    expect(readdirSync(scratch).filter((name) => name.startsWith("teams-"))).toEqual([]);
    await expectNothingLeft(own);
  });

  test("audits its own checkout outside a repository, and keeps its files with --keep", async () => {
    const own = privateTmux();
    const scratch = join(own.home, "tmp");
    mkdirSync(scratch);
    const report = join(own.home, "own.md");
    const env = { ...QUICK, TMPDIR: scratch };
    const { code, err } = await start(own, own.home, [DEMO, "--keep", `--report=${report}`], env).ended;
    expect(code).toBe(0);
    expect(err).toContain("This directory is not a git repository; the team audits the checkout of teams: ");
    expect(readFileSync(report, "utf8")).toMatch(/^ {4}Repository: \S/m);
    const kept = /^The run's files are kept: TEAMS_HOME=(.*)$/m.exec(err)?.[1] ?? "";
    expect(filesBelow(join(kept, "teams-sessions"))).toHaveLength(4);
  });

  test("rejects an unknown option, and prints its usage with --help", () => {
    const wrong = spawnSync(DEMO, ["--frobnicate"], { encoding: "utf8" });
    expect(wrong.status).toBe(2);
    expect(wrong.stderr).toContain("Usage: scripts/demo");
    expect(spawnSync(DEMO, ["--help"], { encoding: "utf8" }).stdout).toContain("--report FILE");
  });
});
