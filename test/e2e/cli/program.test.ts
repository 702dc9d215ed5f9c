import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import nodeModule from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { startTeams, TEAMS, TEAMS_AGENT, teamsIn } from "../../support/processes/built-program.ts";

function home(): {
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly teams: ReturnType<typeof teamsIn>;
} {
  const directory = temporaryDirectory();
  const env = {
    ...process.env,
    HOME: directory,
    TEAMS_HOME: join(directory, "root"),
    XDG_RUNTIME_DIR: directory,
  };
  return { directory, env, teams: teamsIn(env, directory) };
}

/** Prints at exit every loaded file and every loaded module of Node, as one line of JSON on stderr. */
const TRACER = `
process.on("exit", () => {
  const loaded = {
    files: Object.keys(require.cache),
    builtins: process.moduleLoadList,
    events: process.eventNames(),
  };
  require("fs").writeSync(2, JSON.stringify(loaded) + "\\n");
});
`;

/** Prints the same for a teammate when it begins to load its work, after it reported ready; then ends the teammate. */
const READY_TRACER = `
const { _load } = require("module");
require("module")._load = function (request, ...rest) {
  if (!/[/]work-/.test(request)) return _load.call(this, request, ...rest);
  const loaded = { files: Object.keys(require.cache), builtins: process.moduleLoadList };
  require("fs").writeSync(2, JSON.stringify(loaded));
  process.reallyExit(0);
};
`;

/** Code of the packages, and of the variant of zod, that a fast command must not load. */
const HEAVY = /CommanderError|ExecaError|APIConnectionError|require\("blessed"\)|"ZodString"/;
/** Code of zod, which is needed only for metadata and for files that are not in their usual form. */
const ZOD = /ZodMiniType/;
/** Modules of Node that a command on files or pipes does not need: each costs 1 to 2 ms. */
const LATE = [
  "net",
  "tty",
  "child_process",
  "crypto",
  "fs/promises",
  "timers/promises",
  "perf_hooks",
  "assert",
];
/** Fails as Node does if a terminal hangs up after Node checked its type and before Node opens it: no test can time that. */
const CLOSED_TERMINAL = `
const fail = () => { throw Object.assign(new Error("TTY initialization failed"), { code: "ERR_TTY_INIT_FAILED" }); };
Object.defineProperty(process, "stdin", { configurable: true, get: fail });
`;
/**
 * The entry, the bundler's runtime, the chunk shared by all fast commands, the chunk of commands that read a
 * team, the chunk of `send`, the chunk of commands that show messages, zod, and the command's own chunk.
 */
const MAX_FILES = { send: 5, inbox: 7, task: 7, status: 8 };

describe("the built program", () => {
  it("loads few files, no heavy package and few Node modules for a fast command", async () => {
    const { directory, teams } = home();
    await teams(["create", "a"]);
    await teams(["task", "add", "one"]);
    const tracer = join(directory, "tracer.cjs");
    writeFileSync(tracer, TRACER);
    const traced = async (
      words: readonly string[],
    ): Promise<Record<"files" | "builtins" | "events", readonly string[]>> => {
      const { code, err } = await teams(words, { nodeArgs: ["-r", tracer] });
      expect(code).toBe(0);
      const { files, builtins, events } = JSON.parse(err.trim().split("\n").at(-1) ?? "{}");
      return { files: files.filter((file: string) => file !== tracer), builtins, events };
    };
    const codeOf = (files: readonly string[]): string =>
      files.map((file) => readFileSync(file, "utf8")).join("\n");
    for (const words of [
      ["send", "team-lead", "hello"],
      ["inbox"],
      ["inbox", "--json"],
      ["task", "claim", "1"],
      ["status", "--line"],
    ] as const) {
      const { files, builtins, events } = await traced(words);
      const code = codeOf(files);
      expect(HEAVY.exec(code)?.[0], words.join(" ")).toBeUndefined();
      expect(files.length, words.join(" ")).toBeLessThanOrEqual(MAX_FILES[words[0]]);
      expect(ZOD.test(code), words.join(" ")).toBe(words[0] === "status");
      const late = LATE.filter((name) => builtins.includes(`NativeModule ${name}`));
      expect(late, words.join(" ")).toEqual([]);
      // Signals end a command as they end any program: proper-lockfile must not listen to them.
      expect(events.filter((name) => name.startsWith("SIG"))).toEqual([]);
    }
    // The expression matches when such code is loaded.
    expect(HEAVY.exec(codeOf((await traced(["send", "--help"])).files))?.[0]).toBe("CommanderError");
  });

  it("loads zod for a file that is not in its usual form", async () => {
    const { directory, teams } = home();
    await teams(["create", "a"]);
    const config = join(directory, "root/teams/a/config.json");
    const { members, ...others } = JSON.parse(readFileSync(config, "utf8")) as { members: object[] };
    const write = (member: object): void =>
      writeFileSync(config, JSON.stringify({ ...others, members: [...members, member] }));
    write({ name: "peer", agentId: null });
    expect((await teams(["send", "peer", "hello"])).out).toContain("Sent to peer.");
    write({ name: 7 });
    const { code, err } = await teams(["send", "peer", "hello"]);
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining("members[1].name: Invalid input: expected string, received number"),
    });
  });

  it("loads the parser that reports line numbers only for an error in the settings", async () => {
    const { directory, teams } = home();
    const root = join(directory, "root");
    const settings = join(root, "settings.json");
    const tracer = join(directory, "tracer.cjs");
    writeFileSync(tracer, TRACER);
    mkdirSync(root);
    const loadedWith = async (text: string): Promise<{ readonly err: string; readonly loads: boolean }> => {
      writeFileSync(settings, text);
      const { err } = await teams(["cli", "ls"], { nodeArgs: ["-r", tracer] });
      const { files } = JSON.parse(err.trim().split("\n").at(-1) ?? "{}") as { files: readonly string[] };
      return { err, loads: files.some((file) => /function parseTree\b/.test(readFileSync(file, "utf8"))) };
    };
    const adapters = (channel: string): string =>
      `{ "teams": {\n"adapters": { "mine": { "command": "x",\n"channel": "${channel}" } } } }`;
    expect(await loadedWith(adapters("acp"))).toMatchObject({ loads: false });
    const broken = await loadedWith(adapters("pigeon"));
    expect(broken.loads).toBe(true);
    expect(broken.err).toContain(`${settings}:3: teams.adapters.mine.channel: Invalid option`);
  });

  it("loads no schema and few Node modules until a teammate is ready", async () => {
    const { directory, teams } = home();
    await teams(["create", "a"]);
    const tracer = join(directory, "tracer.cjs");
    writeFileSync(tracer, READY_TRACER);
    const flags = ["--agent-id", "team-lead@a", "--agent-name", "team-lead", "--team-name", "a"];
    // The first start creates the files of a spawn; its status is removed, as before a spawn.
    await teams(["agent", ...flags], { nodeArgs: ["-r", tracer] });
    rmSync(join(directory, "root/teams/a/run/team-lead/status.json"));
    const { err } = await teams(["agent", ...flags], { nodeArgs: ["-r", tracer] });
    const { files, builtins } = JSON.parse(err) as Record<"files" | "builtins", string[]>;
    const code = files
      .filter((file) => file !== tracer)
      .map((file) => readFileSync(file, "utf8"))
      .join("\n");
    expect(code).toContain("announceReady");
    expect(code).not.toContain("zod");
    const late = LATE.filter((name) => builtins.includes(`NativeModule ${name}`));
    expect(late).toEqual([]);
  });

  it("ends a teammate as exited when its terminal closes before the teammate opens it", async () => {
    const { directory, teams } = home();
    await teams(["create", "a"]);
    const closed = join(directory, "closed.cjs");
    writeFileSync(closed, CLOSED_TERMINAL);
    const flags = ["--agent-id", "team-lead@a", "--agent-name", "team-lead", "--team-name", "a"];
    const ended = teams(["agent", ...flags], { nodeArgs: ["-r", closed] });
    await expect(ended).rejects.toMatchObject({ signal: "SIGHUP" });
    const { state } = JSON.parse(
      readFileSync(join(directory, "root/teams/a/run/team-lead/status.json"), "utf8"),
    );
    expect(state).toBe("exited");
  });

  it.runIf("enableCompileCache" in nodeModule)("keeps its compile cache for the next command", async () => {
    const kept = join(dirname(TEAMS), "compile-cache");
    const before = existsSync(kept) ? readdirSync(kept, { recursive: true }).length : 0;
    const { teams } = home();
    expect((await teams(["create", "a"])).code).toBe(0);
    expect((await teams(["ls"])).out).toContain("a ");
    expect(readdirSync(kept, { recursive: true }).length).toBeGreaterThanOrEqual(Math.max(before, 3));
  });

  it.each([
    ["18.20.8", 6],
    ["20.18.3", 6],
    ["20.19.0", 0],
    ["100.0.0", 0],
  ])("runs on Node.js %s, or says which version it needs and does nothing", async (node, code) => {
    const { directory, teams } = home();
    const other = join(directory, "other-node.cjs");
    const versions = `{ ...process.versions, node: ${JSON.stringify(node)} }`;
    writeFileSync(other, `Object.defineProperty(process, "versions", { value: ${versions} });\n`);
    const ended = await teams(["create", "a"], { nodeArgs: ["-r", other] });
    expect(ended.code, ended.err).toBe(code);
    expect(existsSync(join(directory, "root"))).toBe(code === 0);
    if (code === 0) return;
    expect(ended.err).toContain(`Node.js 20.19 or newer is needed, but this is ${node}`);
    expect(ended.err).toContain("\n  hint: Install a newer one");
  });

  it("exits with the status of each kind of failure, with the error on stderr only", async () => {
    const { teams } = home();
    await teams(["create", "a"]);
    for (const [words, code] of [
      [["ls"], 0],
      [["nonsense"], 2],
      [["status", "b"], 3],
      [["create", "a"], 4],
      [["wait", "--message", "--timeout", "0"], 5],
    ] as const) {
      const ended = await teams(words);
      expect(ended.code, words.join(" ")).toBe(code);
      expect(ended.err === "", words.join(" ")).toBe(code === 0);
    }
  });

  // macOS has no device that is always full.
  it.runIf(existsSync("/dev/full"))("reports in one sentence that its output could not be written", () => {
    const { directory, env } = home();
    const sh = (script: string): { readonly status: number | null; readonly stderr: string } =>
      spawnSync("/bin/sh", ["-c", script, process.execPath, TEAMS], {
        env,
        cwd: directory,
        encoding: "utf8",
      });
    const lost = `teams: The output could not be written (ENOSPC: no space left on device, write); the command's changes are kept.\n`;
    expect(sh('"$0" "$1" ls > /dev/full')).toMatchObject({ status: 1, stderr: lost });
    expect(sh('"$0" "$1" --help > /dev/full')).toMatchObject({ status: 1, stderr: lost });
    expect(sh('"$0" "$1" nonsense 2> /dev/full')).toMatchObject({ status: 2 });
  });

  it("reports in one sentence that the output file is full", async () => {
    const { directory, env, teams } = home();
    await teams(["create", "a"]);
    await teams(["task", "add", "big", "-d", "-"], { stdin: "x".repeat(100_000) });
    // A file size limit simulates a full disk.
    const ended = spawnSync(
      "/bin/sh",
      ["-c", 'ulimit -f 8 && exec "$0" "$1" task show 1 > out', process.execPath, TEAMS],
      { env, cwd: directory, encoding: "utf8" },
    );
    const lost =
      "teams: The output could not be written (EFBIG: file too large, write); the command's changes are kept.\n";
    expect(ended).toMatchObject({ status: 1, stderr: lost });
  });

  it("ends quietly when the reader of its output closes the pipe", async () => {
    const { directory, env, teams } = home();
    await teams(["create", "a"]);
    await teams(["task", "add", "big", "-d", "-"], { stdin: "x".repeat(2_000_000) });
    const ended = spawnSync(
      "/bin/sh",
      ["-c", `"$0" "$1" task show 1 --json | head -c 5`, process.execPath, TEAMS],
      {
        env,
        cwd: directory,
        encoding: "utf8",
      },
    );
    expect(ended).toMatchObject({ stdout: '{"tas', stderr: "" });
  });

  it("writes a long answer completely into a pipe", async () => {
    const { directory, env, teams } = home();
    await teams(["create", "a"]);
    const description = "y".repeat(2_000_000);
    await teams(["task", "add", "big", "-d", "-"], { stdin: description });
    const out = execFileSync(
      "/bin/sh",
      ["-c", `"$0" "$1" task show 1 --json | cat`, process.execPath, TEAMS],
      {
        env,
        cwd: directory,
        encoding: "utf8",
        maxBuffer: 16_000_000,
      },
    );
    expect((JSON.parse(out) as { task: { description: string } }).task.description).toBe(description);
  });

  it("exits with 130 when status --watch is interrupted", async () => {
    const { directory, env, teams } = home();
    await teams(["create", "a"]);
    const { child, ended } = startTeams(["status", "--watch", "--json"], env, directory);
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    child.kill("SIGINT");
    expect(await ended).toBe(130);
  });

  it("reports that its directory is gone", async () => {
    const { directory, env } = home();
    const gone = join(directory, "gone");
    mkdirSync(gone);
    const ended = spawnSync(
      "/bin/sh",
      ["-c", `cd "$2" && rmdir "$2" && exec "$0" "$1" create a --json`, process.execPath, TEAMS, gone],
      {
        env,
        encoding: "utf8",
      },
    );
    rmSync(gone, { recursive: true, force: true });
    expect(ended.status).toBe(2);
    expect(ended.stderr).toContain("The current directory no longer exists");
  });

  it("has a wrapper that behaves like teams agent", async () => {
    const { teams } = home();
    const wrapped = await teams([], { program: TEAMS_AGENT });
    const plain = await teams(["agent"]);
    expect(wrapped.code).toBe(plain.code);
    expect(wrapped.err).toBe(plain.err);
    expect(wrapped.code).not.toBe(0);
  });
});
