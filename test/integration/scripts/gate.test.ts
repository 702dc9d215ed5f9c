import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { mayMount } from "../../support/files/may-mount.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { eventually } from "../../support/timing/eventually.ts";

const CHECKOUT = fileURLToPath(new URL("../../..", import.meta.url));
const START = join(CHECKOUT, "scripts/gate/start.mjs");

const IMPORT = 'import { expect, test } from "vitest";\n\n';
const PASSES = `${IMPORT}test("passes", () => expect(1).toBe(1));\n`;
const FAILS = `${IMPORT}test("always fails", () => expect(1, "one is not two").toBe(2));\n`;
/** Fails in a process that has run another file before. */
const FAILS_WITH_OTHERS = `${IMPORT}test("is alone", () => {
  const shared = globalThis as { files?: number };
  shared.files = (shared.files ?? 0) + 1;
  expect(shared.files, "it was not alone").toBe(1);
});
`;
/** Each run leaves a file, and the first one fails. */
const FAILS_ONCE = `import { existsSync, writeFileSync } from "node:fs";
${IMPORT}test("fails once", () => {
  const isFirst = !existsSync("ran");
  writeFileSync("ran", "");
  expect(isFirst, "it is the first run").toBe(false);
});
`;

/** The first run kills its worker. */
const KILLED_ONCE = `import { existsSync, writeFileSync } from "node:fs";
${IMPORT}test("passes before", () => expect(1).toBe(1));
test("kills its worker once", () => {
  const isFirst = !existsSync("ran");
  writeFileSync("ran", "");
  if (isFirst) process.kill(process.pid, "SIGKILL");
  expect(isFirst).toBe(false);
});
test("passes after", () => expect(1).toBe(1));
`;

const LEAKS = `import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";

test("leaks", () => {
  spawn("sleep", ["600"], { detached: true, stdio: "ignore" }).unref();
  const left = join(tmpdir(), "left");
  mkdirSync(left);
  // Only some users may.
  spawnSync("mount", ["-t", "tmpfs", "none", left]);
});
`;

const LEAKS_TMUX = `import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { test } from "vitest";

test("leaks", () => {
  const words = ["-L", "left", "-f", "/dev/null", "new-session", "-d", "sleep", "600"];
  execFileSync("tmux", words, { env: { ...process.env, TMUX_TMPDIR: tmpdir() } });
});
`;

/** Fails after it has started a pane, an event and a process. */
const FAILS_IN_A_TEAM = `import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { privateTmux } from "${CHECKOUT}test/support/tmux/private-tmux.ts";
import { eventually } from "${CHECKOUT}test/support/timing/eventually.ts";

test("fails", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  t.tmux("send-keys", "-t", pane, "typed by a person");
  const screen = () => t.tmux("capture-pane", "-p", "-t", pane);
  await eventually("the text", () => screen().includes("typed by a person"));
  writeFileSync(t.paths("crew").events, '{"type":"the last event"}\\n');
  const child = spawn("sleep", ["601"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(1).toBe(2);
});
`;

/** Starts a process, and never ends. */
const STAYS = `import { spawn } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "vitest";

test("stays", async () => {
  const { pid } = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  writeFileSync("started.new", pid + " " + tmpdir());
  renameSync("started.new", "started");
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}, 600_000);
`;

const NO_LEAKS = [join(CHECKOUT, "test/support/setup/no-leaks.ts")];

/** The configuration of a copy of the suite. A shared machine can pause for longer than the default time limit of vitest. */
function configOf(more: object = {}): string {
  const test = { include: ["test/**/*.test.ts"], testTimeout: 240_000, ...more };
  return `export default ${JSON.stringify({ test })};\n`;
}

/** Creates a small copy of the suite: the real gate with other tests. @param files by path */
function copyOfSuite(files: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory();
  symlinkSync(join(CHECKOUT, "node_modules"), join(root, "node_modules"));
  cpSync(join(CHECKOUT, "scripts/gate/reporter.ts"), join(root, "scripts/gate/reporter.ts"));
  const all = {
    "package.json": '{ "type": "module" }\n',
    "tsconfig.json":
      '{ "include": ["test"], "compilerOptions": { "skipLibCheck": true, "types": ["node"] } }\n',
    "biome.json": '{ "files": { "includes": ["test/**/*.ts"] }, "formatter": { "enabled": false } }\n',
    "scripts/layers.mjs": "",
    "scripts/cuts.mjs": "",
    "test/vitest.config.ts": configOf(),
    "test/quarantine.json": "[]\n",
    "test/skips.json": "[]\n",
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, path.endsWith("/run") ? { mode: 0o755 } : {});
  }
  return root;
}

/** @returns the exit status, the last lines, and the whole output */
function gate(root: string, ...words: readonly string[]) {
  return gateWith({}, root, ...words);
}

function gateWith(env: Readonly<Record<string, string>>, root: string, ...words: readonly string[]) {
  const { PATH, HOME } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [START, ...words], {
    cwd: root,
    env: { PATH, HOME, NO_COLOR: "1", LEAK_GRACE_MS: "300", ...env },
    encoding: "utf8",
  });
  const all = stdout.trimEnd().split("\n");
  const from = all.findIndex((line) => /^(skipped|failed|quarantined|unsteady): |^\d+ passed, /.test(line));
  return { status, last: all.slice(from), stdout, stderr };
}

describe("scripts/gate", () => {
  it("ends with the counts when all checks and tests pass", () => {
    const { status, last } = gate(copyOfSuite({ "test/a.test.ts": PASSES }));
    expect([last, status]).toEqual([["5 passed, 0 failed, 0 skipped"], 0]);
  });

  it("names a failed check, a count above its limit and a failed test, with the first line of the error", () => {
    const figure = {
      what: "send loads",
      value: 9,
      unit: "",
      goal: { text: "≤ 8", met: false, isCount: true },
    };
    const slow = {
      what: "a time",
      value: 9,
      unit: "ms",
      goal: { text: "≤ 8 ms", met: false, isCount: false },
    };
    const results = {
      figures: [figure, slow],
      failed: [{ bench: "idle", error: "it never rests" }],
      unsteady: [{ bench: "keypress", error: "no key" }],
    };
    const bench = `#!/bin/sh\nprintf '%s' '${JSON.stringify(results)}' >"$3"\nexit 1\n`;
    const root = copyOfSuite({
      "test/a.test.ts": PASSES,
      "test/b.test.ts": FAILS,
      "test/lint.ts": "debugger;\n",
      "scripts/bench/run": bench,
    });
    const { status, last, stdout } = gate(root, "--counts");
    const lint = last.indexOf("failed: lint: exit status 1");
    const ofLint = last.slice(lint).findIndex((line, at) => at > 0 && !line.startsWith("    "));
    expect(last.slice(lint, lint + ofLint).join("\n")).toMatch(/^ {4}.*test\/lint\.ts:1:1/m);
    expect([status, last.toSpliced(lint + 1, ofLint - 1)]).toEqual([
      1,
      [
        "failed: lint: exit status 1",
        "failed: bench: send loads: 9, the limit is ≤ 8",
        "failed: bench: idle failed twice: it never rests",
        "failed: test/b.test.ts > always fails: AssertionError: one is not two: expected 1 to be 2 // Object.is equality",
        "unsteady: bench: keypress: no key",
        "4 passed, 4 failed, 0 skipped",
      ],
    ]);
    expect(stdout.match(/^== once more, alone: test\/b.test.ts$/gm)).toHaveLength(2);
  });

  it("reports a test as unsteady when it passes alone, in a new process", () => {
    const root = copyOfSuite({
      "test/vitest.config.ts": configOf({ isolate: false, maxWorkers: 1 }),
      "test/a.test.ts": FAILS_WITH_OTHERS,
      "test/b.test.ts": FAILS_WITH_OTHERS,
    });
    const { status, last, stdout } = gate(root, "--no-checks");
    // Either file may run first.
    const unsteady = /^unsteady: (test\/[ab]\.test\.ts) > is alone: AssertionError: it was not alone: /;
    expect([status, ...last]).toEqual([0, expect.stringMatching(unsteady), "2 passed, 0 failed, 0 skipped"]);
    const [, file] = unsteady.exec(last[0] ?? "") ?? [];
    expect(stdout.match(/^== once more, alone: .*$/gm)).toEqual([`== once more, alone: ${file}`]);
  });

  it("fails when all tests pass, but a test is unsteady below test/unit, skipped in CI or long in quarantine", () => {
    const quarantine = [{ test: "test/c.test.ts > passes", reason: "a fixture", since: "2020-01-01" }];
    const root = copyOfSuite({
      "test/a.test.ts": `${IMPORT}test.skip("needs a program", () => expect(1).toBe(1));\n`,
      "test/unit/b.test.ts": FAILS_ONCE,
      "test/c.test.ts": PASSES,
      "test/quarantine.json": JSON.stringify(quarantine),
    });
    const { status, last } = gateWith({ CI: "true" }, root, "--no-checks");
    const old = /^failed: quarantine: an entry is \d+ days old, .*: test\/c\.test\.ts > passes$/;
    expect([status, ...last]).toEqual([
      1,
      "skipped: test/a.test.ts > needs a program",
      expect.stringMatching(old),
      "failed: not in test/skips.json for this user, but skipped: test/a.test.ts > needs a program",
      "failed: unsteady below test/unit: test/unit/b.test.ts > fails once",
      "quarantined: test/c.test.ts > passes: passed",
      expect.stringContaining("unsteady: test/unit/b.test.ts > fails once: AssertionError: it is the"),
      "1 passed, 3 failed, 1 skipped",
    ]);
  });

  it("reports a failed test in quarantine, which does not fail the run", () => {
    const today = new Date().toISOString().slice(0, 10);
    const quarantine = [{ test: "test/b.test.ts > always fails", reason: "a fixture", since: today }];
    const root = copyOfSuite({
      "test/b.test.ts": FAILS,
      "test/quarantine.json": JSON.stringify(quarantine),
    });
    const { status, last } = gate(root, "--no-checks");
    expect([status, last.at(-1)]).toEqual([0, "0 passed, 0 failed, 0 skipped"]);
    expect(last[0]).toContain("quarantined: test/b.test.ts > always fails: AssertionError: one is not two");
  });

  it("names a file that cannot be loaded, and an error outside the tests", () => {
    const root = copyOfSuite({
      "test/a.test.ts": 'import "./missing.ts";\n',
      "test/b.test.ts": `${PASSES}setImmediate(() => { throw new Error("too late"); });\n`,
    });
    const { status, last } = gate(root, "--no-checks");
    expect(status).toBe(1);
    expect(last).toEqual([
      expect.stringContaining("failed: test/a.test.ts: Error: Cannot find module"),
      "failed: test/b.test.ts: Error: too late",
      "1 passed, 2 failed, 0 skipped",
    ]);
  });

  it("repeats a file whose worker was killed: the file is unsteady, not each of its tests", () => {
    const root = copyOfSuite({ "test/a.test.ts": PASSES, "test/b.test.ts": KILLED_ONCE });
    const { status, last, stdout } = gate(root, "--no-checks");
    expect([status, last]).toEqual([
      0,
      [
        "unsteady: test/b.test.ts: The file did not end: Error: Worker exited unexpectedly",
        "4 passed, 0 failed, 0 skipped",
      ],
    ]);
    expect(stdout.match(/^== once more, alone: test\/b.test.ts$/gm)).toHaveLength(1);
  });

  it("names a file whose worker is killed in each attempt, before its tests", () => {
    const killed = `${IMPORT}process.kill(process.pid, "SIGKILL");\ntest("never runs", () => expect(1).toBe(1));\n`;
    const root = copyOfSuite({ "test/a.test.ts": PASSES, "test/b.test.ts": killed });
    const { status, last, stdout } = gate(root, "--no-checks");
    expect([status, last]).toEqual([
      1,
      [
        "failed: test/b.test.ts: The file did not end: Error: Worker exited unexpectedly",
        "1 passed, 1 failed, 0 skipped",
      ],
    ]);
    expect(stdout.match(/^== once more, alone: test\/b.test.ts$/gm)).toHaveLength(2);
  });

  it("names a process, a mount and a directory that a test file has left, and ends them", async () => {
    const root = copyOfSuite({
      "test/vitest.config.ts": configOf({ setupFiles: NO_LEAKS }),
      "test/a.test.ts": LEAKS,
    });
    const { status, last } = gate(root, "--no-checks");
    const mount = mayMount() ? "mount \\S+/tf-\\w+/left; " : "";
    const things = `process \\d+ sleep: sleep 600; ${mount}(\\S+/tf-\\w+/left)`;
    const error = new RegExp(`^failed: test/a\\.test\\.ts: Error: This file left \\d things: ${things}$`);
    expect([status, ...last]).toEqual([1, expect.stringMatching(error), "1 passed, 1 failed, 0 skipped"]);
    const [, left = ""] = error.exec(last[0] ?? "") ?? [];
    const [, pid] = /process (\d+)/.exec(last[0] ?? "") ?? [];
    await eventually("the end of the process", () => startTimeOf(Number(pid)) === undefined);
    expect(existsSync(left)).toBe(false);
  });

  it("names a tmux server that a test file has left, and ends it", async () => {
    const root = copyOfSuite({
      "test/vitest.config.ts": configOf({ setupFiles: NO_LEAKS }),
      "test/a.test.ts": LEAKS_TMUX,
    });
    const { status, last } = gate(root, "--no-checks");
    expect([status, last.at(-1)]).toEqual([1, "1 passed, 1 failed, 0 skipped"]);
    const [, pid] = /This file left .*process (\d+) \S*tmux/.exec(last[0] ?? "") ?? [];
    expect(Number(pid)).toBeGreaterThan(1);
    await eventually("the end of the server", () => startTimeOf(Number(pid)) === undefined);
  });

  it("shows the load, the processes, the screens and the last events of a failed test", () => {
    const setupFiles = [...NO_LEAKS, join(CHECKOUT, "test/support/setup/failed-test.ts")];
    const root = copyOfSuite({
      "test/vitest.config.ts": configOf({ setupFiles }),
      "test/a.test.ts": FAILS_IN_A_TEAM,
    });
    const { status, stdout, stderr } = gate(root, "--no-checks");
    expect(status).toBe(1);
    const shown = `${stdout}${stderr}`;
    expect(shown).toMatch(/^load \d+\.\d /m);
    expect(shown).toMatch(/^\d+ \d+ sleep 601$/m);
    expect(shown).toMatch(/^-- pane %\d+ work:\d/m);
    expect(shown).toMatch(/^typed by a person/m);
    expect(shown).toContain('-- last events of crew\n{"type":"the last event"}');
  });

  it("ends what a test file has started when the run is killed", async () => {
    const root = copyOfSuite({
      "test/vitest.config.ts": configOf({ setupFiles: NO_LEAKS }),
      "test/a.test.ts": STAYS,
    });
    const { PATH, HOME } = process.env;
    const run = spawn(process.execPath, [START, "--no-checks"], {
      cwd: root,
      env: { PATH, HOME },
      stdio: "ignore",
      detached: true,
    });
    const started = join(root, "started");
    await eventually("the test's process", () => existsSync(started));
    const [pid, directory = ""] = readFileSync(started, "utf8").split(" ");
    expect(startTimeOf(Number(pid))).toBeDefined();
    process.kill(-(run.pid ?? 0), "SIGKILL");
    await eventually("their end", () => startTimeOf(Number(pid)) === undefined && !existsSync(directory));
  });

  it("gives each file one temporary directory, even after a file whose tests are all skipped", () => {
    const where = `import { tmpdir } from "node:os";\n${IMPORT}test("where", () => expect(tmpdir()).toMatch(/^[^]*(?<!tf-[^]*)tf-\\w+$/));\n`;
    const root = copyOfSuite({
      "test/vitest.config.ts": configOf({ isolate: false, maxWorkers: 1, setupFiles: NO_LEAKS }),
      "test/a.test.ts": `import { tmpdir } from "node:os";\n${IMPORT}test.skip(tmpdir(), () => expect(1).toBe(1));\n`,
      "test/b.test.ts": where,
    });
    const { status, last } = gate(root, "--no-checks");
    const [, skipped = ""] = /^skipped: test\/a\.test\.ts > (.*)$/.exec(last[0] ?? "") ?? [];
    expect([status, last.at(-1)]).toEqual([0, "1 passed, 0 failed, 1 skipped"]);
    expect(skipped).toMatch(/tf-\w+$/);
    expect(existsSync(skipped)).toBe(false);
  });

  it.each([
    ["{}", 'must be a list of {"test", "reason", "since": "yyyy-mm-dd"}.'],
    ["[", "cannot be read: "],
  ])("prints its counts even when it cannot run, because test/quarantine.json is %s", (text, why) => {
    const root = copyOfSuite({ "test/a.test.ts": PASSES, "test/quarantine.json": text });
    const { status, last, stdout } = gate(root);
    const named = expect.stringContaining(`failed: gate: test/quarantine.json ${why}`);
    expect([status, last]).toEqual([1, [named, "0 passed, 1 failed, 0 skipped"]]);
    expect(stdout).not.toContain("== tests");
  });

  it("stresses a file while other processes are busy, and says how often each of its tests failed", () => {
    const root = copyOfSuite({ "test/a.test.ts": PASSES, "test/b.test.ts": FAILS_ONCE });
    const stress = (...words: readonly string[]) => gate(root, "--stress", ...words, "--load", "1");
    const failed = stress("test/b.test.ts", "-n", "2");
    expect([failed.status, ...failed.stdout.trimEnd().split("\n").slice(-2)]).toEqual([
      1,
      expect.stringContaining("failed 1 of 2: test/b.test.ts > fails once: AssertionError: it"),
      "1 passed, 1 failed",
    ]);
    const passed = stress("test/a.test.ts", "-n", "1");
    expect([passed.status, passed.stdout.trimEnd().split("\n").at(-1)]).toEqual([0, "1 passed, 0 failed"]);
    const refused = stress("test/a.test.ts", "-n", "0");
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("-n must be a positive")]);
  });

  it("fails when vitest ends without results", () => {
    const root = copyOfSuite({ "test/vitest.config.ts": "process.exit(3);\n" });
    const { status, last } = gate(root, "--no-checks");
    expect([status, last]).toEqual([
      1,
      [
        "failed: outside every test: vitest ended without results (exit status 3)",
        "0 passed, 1 failed, 0 skipped",
      ],
    ]);
  });
});
