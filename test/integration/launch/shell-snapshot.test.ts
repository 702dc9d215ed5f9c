import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { BackgroundTasks } from "../../../src/agent/background/background-tasks.ts";
import { bashTool } from "../../../src/agent/tools/bash.ts";
import {
  shellSnapshot,
  snapshotOf,
  snapshotVariable,
  takeSnapshot,
} from "../../../src/launch/shell-snapshot.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { hasEnvEntry, processTable } from "../../../src/os/process/process-table.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { eventually } from "../../support/timing/eventually.ts";

const SHELLS = [
  { name: "bash", shell: "/bin/bash", file: ".bashrc" },
  { name: "zsh", shell: "/usr/bin/zsh", file: ".zshrc" },
];
const FISH = "/usr/bin/fish";

const HTTPS_PROXY = "http://ada:proxy-sesame@proxy.test:3128";
const STARTUP = `
export SECRET_TOKEN=hunter2
export PATH="$HOME/own bin:$PATH"
set -o noclobber
alias hi='echo "hi  there"'
alias up="upload --token '$API_TOKEN'"
alias far="curl -x '$HTTPS_PROXY'"
greet() { echo "hello $1"; }
`;

describe.each(SHELLS)("snapshot of $name", ({ shell, file }) => {
  test.skipIf(!existsSync(shell))("provides functions, aliases and PATH, but no secrets", async () => {
    const home = homeWith(file, STARTUP);
    const snapshot = await take(home, shell);
    expect(statSync(snapshot ?? "").mode & 0o077).toBe(0);
    expect(readFileSync(snapshot ?? "", "utf8")).not.toMatch(/hunter2|sesame/);
    const out = join(home, "out");
    const command = `. "$1" || exit 9; eval 'echo x >${out}; echo y >${out}; hi; greet you; echo "$PATH"'`;
    const output = execFileSync(shell, ["-c", command, "sh", snapshot ?? ""], {
      env: { HOME: home, PATH: "/usr/bin:/bin" },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(output.split("\n").slice(0, 2)).toEqual(["hi  there", "hello you"]);
    expect(output.split("\n")[2]).toMatch(new RegExp(`^${home}/own bin:`));
    // The snapshot contains no noclobber: the second write succeeds.
    expect(readFileSync(out, "utf8")).toBe("y\n");
  });

  test.skipIf(!existsSync(shell))(
    "is not created if the startup file exits or replaces the shell",
    async () => {
      for (const startup of ["exit 0\n", "exec true\n"]) {
        const home = homeWith(file, startup);
        expect(await take(home, shell)).toBeUndefined();
        expect(readdirSync(join(home, "root", "shell-snapshots"))).toEqual([]);
      }
    },
  );

  test.skipIf(!existsSync(shell))(
    "is given up if the startup file hangs, and leaves no process",
    async () => {
      const home = homeWith(file, "sleep 1000\n");
      expect(await take(home, shell, 500)).toBeUndefined();
      await eventually(
        "the end of its processes",
        () => !processTable().some((row) => hasEnvEntry(row.pid, `HOME=${home}`)),
      );
    },
  );
});

test.skipIf(!existsSync(FISH))("snapshot of fish › contains only PATH, for any shell", async () => {
  const home = homeWith(
    ".config/fish/config.fish",
    'set -gx PATH "$HOME/it\'s own" $PATH\nset -gx SECRET_TOKEN hunter2\n',
  );
  const snapshot = await take(home, FISH);
  expect(readFileSync(snapshot ?? "", "utf8")).not.toContain("hunter2");
  const output = execFileSync("/bin/sh", ["-c", '. "$1"; echo "$PATH"', "sh", snapshot ?? ""], {
    encoding: "utf8",
  });
  expect(output).toMatch(new RegExp(`^${home}/it's own:`));
});

describe("an agent whose startup file is slow", () => {
  /** Plans the snapshot of a shell whose startup file waits for `go` in its home. */
  const planned = (startup: string) => {
    const home = homeWith(".bashrc", startup);
    const env = { HOME: home, PATH: "/usr/bin:/bin", SHELL: "/bin/bash" };
    const snapshot = shellSnapshot({ home: { root: join(home, "root") }, env, clock: systemClock });
    if (snapshot === undefined) throw new Error("There is no snapshot for bash.");
    return { home, snapshot, env: snapshotVariable(snapshot) };
  };
  const SLOW = `mkfifo "$HOME/go" && : <"$HOME/go"\ngreet() { echo "hello $1"; }\n`;

  test("waits before its first command, and has the functions of the startup file", async () => {
    const { home, snapshot, env } = planned(SLOW);
    const taken = snapshot.take();
    const context = {
      cwd: home,
      env: { HOME: home, PATH: "/usr/bin:/bin" },
      signal: new AbortController().signal,
      seenFiles: new Map(),
      background: new BackgroundTasks({ cwd: home, secrets: [] }),
      snapshot: snapshotOf(env),
    };
    const result = bashTool.execute({ command: "greet you" }, context);
    await eventually("the shell in its startup file", () => existsSync(join(home, "go")));
    writeFileSync(join(home, "go"), "");
    expect(await result).toMatchObject({ content: "hello you" });
    await taken;
  });

  test("stops waiting at its limit, and when the shell or its turn ends", async () => {
    const { home, snapshot, env } = planned(SLOW);
    const limited = snapshotOf(env, 100);
    expect(await limited()).toBeUndefined();
    const aborted = new AbortController();
    const waiting = snapshotOf(env)(aborted.signal);
    aborted.abort();
    expect(await waiting).toBeUndefined();
    const taken = snapshot.take();
    await eventually("the shell in its startup file", () => existsSync(join(home, "go")));
    writeFileSync(join(home, "go"), "");
    await taken;
    expect(await limited()).toBe(snapshot.file);

    const failed = planned("exit 0\n");
    const first = snapshotOf(failed.env, Number.POSITIVE_INFINITY)();
    await failed.snapshot.take();
    expect(await first).toBeUndefined();
  });
});

test("takeSnapshot › removes its own snapshots older than a week, and keeps others", async () => {
  const root = temporaryDirectory();
  const directory = join(root, "shell-snapshots");
  mkdirSync(directory);
  const now = 1_800_000_000_000;
  const week = 7 * 24 * 60 * 60 * 1000;
  const old = [
    `snapshot-bash-${now - week - 1}-tabc123.sh`,
    `snapshot-zsh-${now - week - 1}-tabc123.sh.tmp.done`,
  ];
  const kept = [`snapshot-bash-${now - week + 1}-tabc123.sh`, `snapshot-bash-${now - 2 * week}-x1y2z3.sh`];
  for (const name of [...old, ...kept]) writeFileSync(join(directory, name), "");
  await takeSnapshot({ root, shell: "/bin/bash", env: { HOME: root, PATH: process.env.PATH }, now });
  const names = readdirSync(directory);
  for (const name of kept) expect(names).toContain(name);
  for (const name of old) expect(names).not.toContain(name);
});

test("takeSnapshot › removes files that killed processes have not redacted, but no file that a shell may still write", async () => {
  const root = join(temporaryDirectory(), "root");
  const directory = join(root, "shell-snapshots");
  mkdirSync(directory, { recursive: true });
  const now = Date.now();
  const partial = (stem: string, ageMs: number) =>
    [".tmp", ".tmp.done"].map((end) => {
      const name = `snapshot-bash-${now - 3_600_000}-t${stem}.sh${end}`;
      writeFileSync(join(directory, name), "a secret");
      utimesSync(join(directory, name), (now - ageMs) / 1000, (now - ageMs) / 1000);
      return name;
    });
  const left = partial("abc123", 61_000);
  const current = partial("abc124", 30_000);
  await takeSnapshot({ root, shell: "/bin/bash", env: { HOME: root, PATH: process.env.PATH }, now });
  expect(readdirSync(directory)).toEqual(expect.arrayContaining(current));
  for (const name of left) expect(readdirSync(directory)).not.toContain(name);
});

test("takeSnapshot › leaves nothing unredacted if it fails", async () => {
  const root = join(temporaryDirectory(), "root");
  const file = join(root, "shell-snapshots", "snapshot-bash-1-tabc123.sh");
  mkdirSync(file, { recursive: true });
  const env = { HOME: root, PATH: process.env.PATH };
  await expect(takeSnapshot({ root, shell: "/bin/bash", env, now: 1, file })).rejects.toThrow(/EISDIR/);
  expect(readdirSync(dirname(file))).toEqual(["snapshot-bash-1-tabc123.sh"]);
});

test("takeSnapshot › returns undefined for an unknown shell", async () => {
  expect(await take(temporaryDirectory(), "/bin/false")).toBeUndefined();
});

function homeWith(file: string, text: string): string {
  const home = temporaryDirectory();
  mkdirSync(dirname(join(home, file)), { recursive: true });
  writeFileSync(join(home, file), text);
  return home;
}

function take(home: string, shell: string, timeoutMs = 240_000): Promise<string | undefined> {
  const env = { HOME: home, PATH: "/usr/bin:/bin", TERM: "dumb", API_TOKEN: "open sesame", HTTPS_PROXY };
  return takeSnapshot({ root: join(home, "root"), shell, env, now: 1_700_000_000_000, timeoutMs });
}
