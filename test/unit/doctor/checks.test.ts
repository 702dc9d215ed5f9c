import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkLeftovers, checkTaskLists } from "../../../src/doctor/deleted-teams.ts";
import { checkRoot, checkRuntime } from "../../../src/doctor/directories.ts";
import { checkModel, checkModelOnline } from "../../../src/doctor/model-access.ts";
import { checkGit, checkNode, checkShell, checkTmux, judgeTmux } from "../../../src/doctor/programs.ts";
import { checkInsideTmux, checkTerminal } from "../../../src/doctor/terminal.ts";
import { ownerRecord } from "../../../src/store/owner-lock.ts";
import { parseVersion } from "../../../src/tmux/version.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

describe("programs", () => {
  it.each([
    ["20.18.3", "fail"],
    ["20.19.0", "ok"],
    ["24.0.0", "ok"],
    ["18.20.0", "fail"],
  ])("node %s is %s", (version, level) => {
    expect(checkNode(version).level).toBe(level);
  });

  it.each([
    ["tmux 3.1c", "fail"],
    ["tmux 3.2", "ok"],
    ["tmux 3.3a", "ok"],
    ["tmux next-3.6", "ok"],
    ["tmux master", "ok"],
  ])("%s is %s", (text, level) => {
    expect(judgeTmux(parseVersion(text)).level).toBe(level);
  });

  it("what is not on the PATH is said with how to get it", async () => {
    const env = { PATH: temporaryDirectory() };
    expect(await checkTmux(env)).toMatchObject({
      level: "fail",
      remedy: expect.stringContaining("install tmux"),
    });
    expect(await checkGit(env)).toMatchObject({ level: "warn" });
  });

  it("a shell has to be there, and to be one that can be captured", () => {
    const directory = temporaryDirectory();
    const shell = (name: string): string => {
      writeFileSync(join(directory, name), "");
      chmodSync(join(directory, name), 0o755);
      return join(directory, name);
    };
    expect(checkShell({ SHELL: shell("zsh") }).level).toBe("ok");
    expect(checkShell({ SHELL: shell("nu") })).toMatchObject({ level: "warn" });
    expect(checkShell({ SHELL: join(directory, "gone") })).toMatchObject({ level: "warn" });
    expect(checkShell({}).level).toBe("warn");
  });
});

describe("terminal", () => {
  it("is judged by TERM and locale where stdout is one", () => {
    const levels = (env: Record<string, string>, isTerminal = true): readonly string[] =>
      checkTerminal(env, isTerminal).map(({ level }) => level);
    expect(levels({ TERM: "xterm-256color", LANG: "en_US.UTF-8" })).toEqual(["ok", "ok"]);
    expect(levels({ TERM: "xterm", COLORTERM: "truecolor", LC_ALL: "C.utf8" })).toEqual(["ok", "ok"]);
    expect(levels({ TERM: "vt100", LC_ALL: "C", LANG: "en_US.UTF-8" })).toEqual(["warn", "warn"]);
    expect(levels({})).toEqual(["warn", "warn"]);
    expect(levels({}, false)).toEqual(["ok"]);
    expect(checkInsideTmux({ TMUX: "/tmp/x,1,0" }).text).toMatch(/^yes/);
  });
});

describe("directories", () => {
  it("root: made later, written by us, not by others", () => {
    const directory = temporaryDirectory();
    const root = join(directory, "a", "b");
    expect(checkRoot(root)).toMatchObject({ level: "ok", text: expect.stringContaining("will be made") });
    mkdirSync(root, { recursive: true, mode: 0o700 });
    expect(checkRoot(root)).toMatchObject({ level: "ok", text: root });
    chmodSync(root, 0o777);
    expect(checkRoot(root).level).toBe("warn");
    chmodSync(root, 0o700);
    for (const below of ["teams", "tasks"]) {
      mkdirSync(join(root, below));
      chmodSync(join(root, below), 0o777);
      expect(checkRoot(root)).toMatchObject({ level: "warn", remedy: expect.stringContaining(`/${below}`) });
      chmodSync(join(root, below), 0o700);
    }
    writeFileSync(join(directory, "file"), "");
    expect(checkRoot(join(directory, "file")).level).toBe("fail");
  });

  it("runtime: ours alone, and looking at it makes nothing", () => {
    const runtime = join(temporaryDirectory(), "teams");
    expect(checkRuntime(runtime)).toMatchObject({
      level: "ok",
      text: expect.stringContaining("will be made"),
    });
    mkdirSync(runtime, { mode: 0o700 });
    expect(checkRuntime(runtime).level).toBe("ok");
    chmodSync(runtime, 0o755);
    expect(checkRuntime(runtime)).toMatchObject({
      level: "fail",
      remedy: expect.stringContaining("chmod 700"),
    });
    rmdirSync(runtime);
    symlinkSync("/tmp", runtime);
    expect(checkRuntime(runtime)).toMatchObject({ level: "fail", remedy: expect.stringMatching(/^rm /) });
    rmSync(runtime);
    writeFileSync(runtime, "");
    expect(checkRuntime(runtime)).toMatchObject({ level: "fail", remedy: expect.stringMatching(/^Set /) });
  });
});

describe("leftovers", () => {
  it("are named, and removed with --fix; what lives or is young stays", () => {
    const directory = temporaryDirectory();
    const [root, runtime] = [join(directory, "root"), join(directory, "run")];
    const now = Date.parse("2030-01-01");
    const make = (path: string, ageMinutes: number): string => {
      mkdirSync(path, { recursive: true });
      const at = new Date(now - ageMinutes * 60_000);
      utimesSync(path, at, at);
      return path;
    };
    make(join(root, "teams", "living"), 600);
    writeFileSync(join(root, "teams", "living", "config.json"), "{}");
    make(join(runtime, "living"), 600);
    make(join(runtime, "young"), 5);
    const bell = make(join(runtime, "ended"), 120);
    const halves = ["deleted", "new", "leftover"].map((word) =>
      make(join(root, "teams", `.x.${word}-${"0".repeat(8)}-aaaa-bbbb-cccc-${"1".repeat(12)}`), 120),
    );
    // By a process that has ended, whatever its age; and by this one.
    const dead = ownerRecord().replace(/^\d+/, String(spawnSync("true").pid));
    halves.push(make(join(root, "teams", `.import.new-${dead}`), 0));
    const own = make(join(root, "teams", `.import.new-${ownerRecord()}`), 120);
    const tasks = make(join(root, "tasks", basename(halves[1] ?? "")), 120);
    const recording = (name: string, days: number): string => {
      const part = make(join(root, "recordings", name), days * 1_440);
      writeFileSync(join(part, "lead.jsonl"), "");
      const at = new Date(now - days * 86_400_000);
      for (const path of [join(part, "lead.jsonl"), part]) utimesSync(path, at, at);
      return part;
    };
    halves.push(recording("killed", 4));
    const recorded = recording("at-work", 2);
    const found = checkLeftovers({ root, runtime }, now, false);
    expect(found).toMatchObject({ level: "warn", remedy: expect.stringContaining("--fix") });
    expect(found.text).toContain(bell);
    expect(found.text).toMatch(/^7 /);
    expect(checkLeftovers({ root, runtime }, now, true).text).toMatch(/^removed 7/);
    for (const gone of [bell, ...halves, tasks]) expect(existsSync(gone)).toBe(false);
    for (const stays of [own, recorded]) expect(existsSync(stays)).toBe(true);
    expect(checkLeftovers({ root, runtime }, now, false)).toMatchObject({ level: "ok", text: "none" });
  });
});

describe("model access", () => {
  it("is judged offline by what is set, and never shows the key", () => {
    expect(checkModel({}).level).toBe("warn");
    const found = checkModel({ ANTHROPIC_API_KEY: "sk-secret" });
    expect(found.level).toBe("ok");
    expect(JSON.stringify(found)).not.toContain("sk-secret");
    expect(checkModel({ ANTHROPIC_BASE_URL: "nonsense" }).level).toBe("fail");
    expect(checkModel({ ANTHROPIC_BASE_URL: "http://localhost:1" }).level).toBe("ok");
  });

  it("is judged online by the server's answer", async () => {
    const server = createServer((request, response) => {
      const good = request.headers["x-api-key"] === "good";
      response.writeHead(good ? 200 : 401).end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = (key: string): ReturnType<typeof checkModelOnline> =>
      checkModelOnline({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: `${base}/` });
    expect(await ask("good")).toMatchObject({ level: "ok" });
    expect(await ask("bad")).toMatchObject({ level: "fail", text: expect.stringContaining("401") });
    const nobody = await checkModelOnline({
      ANTHROPIC_API_KEY: "x",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
    });
    expect(nobody).toMatchObject({ level: "fail", text: expect.stringContaining("cannot be reached") });
  });
});

describe("task lists without a team", () => {
  it("are named with the command for one; a session's own list is none of them", () => {
    const root = temporaryDirectory();
    const make = (team: string): string => {
      const list = join(root, "tasks", team);
      mkdirSync(list, { recursive: true });
      writeFileSync(join(list, "1.json"), "{}");
      return list;
    };
    expect(checkTaskLists(root)).toMatchObject({ level: "ok" });
    make("0b5e1f3a-0000-4000-8000-000000000000");
    make("living");
    mkdirSync(join(root, "teams", "living"), { recursive: true });
    writeFileSync(join(root, "teams", "living", "config.json"), "{}");
    expect(checkTaskLists(root)).toMatchObject({ level: "ok" });
    const orphan = make("-orph");
    expect(checkTaskLists(root)).toMatchObject({
      level: "warn",
      text: `1 without a team: ${orphan}`,
      remedy: expect.stringContaining("teams delete --force -- -orph"),
    });
  });
});

describe("teams doctor", () => {
  it("says of each check that it cannot look, and does the others", async () => {
    const teams = cliIn();
    // A link to itself stops root as well, which no permission does.
    symlinkSync(teams.root, teams.root);
    const ended = await teams(["doctor", "--json"]);
    expect(ended).toMatchObject({ code: 1, err: "" });
    const { checks } = ended.json<{ checks: { name: string; level: string; remedy?: string }[] }>();
    const levels = new Map(checks.map(({ name, level }) => [name, level]));
    expect(["node", "runtime directory"].map((name) => levels.get(name))).toEqual(["ok", "ok"]);
    for (const name of ["root directory", "leftovers", "task lists"]) {
      expect(checks).toContainEqual({
        name,
        level: "fail",
        text: expect.stringMatching(/^cannot be looked at: ELOOP/),
        remedy: expect.stringContaining("TEAMS_HOME"),
      });
    }
  });

  it("reports each check with its remedy, and ends with 1 when one fails", async () => {
    const teams = cliIn();
    const good = await teams(["doctor", "--json"]);
    const report = good.json<{ ok: boolean; checks: { name: string; level: string }[] }>();
    expect(report.checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["node", "tmux", "git", "root directory", "runtime directory", "leftovers"]),
    );
    const bad = await teams(["doctor"], { env: { PATH: "/nonexistent" } });
    expect(bad.code).toBe(1);
    expect(bad.out).toMatch(/fail +tmux +not found on the PATH\n +→ Install tmux/);
  });
});
