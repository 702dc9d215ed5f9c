import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { spawnTeammates } from "../../../../src/operations/spawn/spawn.ts";
import { teamStatus } from "../../../../src/operations/status.ts";
import { startTimeOf } from "../../../../src/os/process/identity.ts";
import { hasEnvEntry, processTable } from "../../../../src/os/process/process-table.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { readPlace, readStatus } from "../../../../src/team/records/read-records.ts";
import { teamsIn } from "../../../support/processes/built-program.ts";
import { ledTeam } from "../../../support/team/led-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

describe("spawn", () => {
  it("returns the resolved values when the teammate is ready (S16)", async () => {
    const { ref, spawn, place } = await ledTeam({ "*": [{ say: "looked at {{input}}" }] });
    const prompt = "look at `this` and $(that)\n\"quoted\" 'twice' ünï — 🙂";
    const [dev] = await spawn({ name: "dev", agentType: "explore", prompt });
    const pid = readStatus(ref, "dev")?.process.pid;
    expect(dev).toEqual({
      name: "dev",
      agentId: "dev@crew",
      agentType: "Explore",
      model: `scripted:${join(place.home, "play.json")}`,
      color: "blue",
      planModeRequired: false,
      mode: "bypassPermissions",
      cwd: place.home,
      worktree: null,
      branch: null,
      paneId: null,
      pid,
      backend: "process",
      why: expect.any(String),
      notHere: null,
    });
    expect(readTeam(ref).members[1]).toMatchObject({
      name: "dev",
      agentType: "Explore",
      model: dev?.model,
      mode: "bypassPermissions",
      backendType: "process",
      prompt,
    });
    const argv = argvOf(pid);
    expect(argv).toContain(`--model ${dev?.model}`);
    expect(argv).not.toContain("quoted");
    // Byte for byte, as a message from the lead (S2).
    await eventually("the answer", async () =>
      (await unreadMessages(ref, LEAD_NAME)).some(
        ({ protocol }) => protocol?.type === "idle_notification" && protocol.result === `looked at ${prompt}`,
      ),
    );
    expect(await history(ref, "dev", { all: true })).toMatchObject([{ from: LEAD_NAME, text: prompt }]);
  });

  it("starts several teammates together, with colours in order", async () => {
    const { ref, spawn } = await ledTeam();
    const all = await spawn("one", "two", "three");
    expect(all.map(({ name, color }) => `${name} ${color}`)).toEqual([
      "one blue",
      "two green",
      "three yellow",
    ]);
    expect(new Set(all.map(({ pid }) => pid)).size).toBe(3);
    expect(readTeam(ref).joinedCount).toBe(3);
  });

  it("fails with NESTED_TEAM when a teammate calls it", async () => {
    const { ref, place } = await ledTeam();
    const ctx = contextOf(ref, "dev", { env: place.env });
    await expect(spawnTeammates(ctx, [{ name: "x" }])).rejects.toMatchObject({ code: "NESTED_TEAM" });
  });

  it("passes NODE_OPTIONS from the settings to the teammate's commands, but not to its own process", async () => {
    const show = { name: "Bash", input: { command: 'printf %s "$NODE_OPTIONS" > options' } };
    const { place } = await ledTeam({ "*": [{ tools: [show] }, { say: "Done." }] });
    const options = "--require ./missing.cjs";
    writeFileSync(join(place.root, "settings.json"), JSON.stringify({ env: { NODE_OPTIONS: options } }));
    const teams = teamsIn(place.env, place.home);
    const words = ["spawn", "dev", "--teammate-mode", "process", "--prompt", "Show it.", "--json"];
    expect((await teams(words)).code).toBe(0);
    const file = join(place.home, "options");
    await eventually("the options", () => existsSync(file) && readFileSync(file, "utf8") === options);
  });

  it("starts one process and refuses the other when a name is spawned twice at once (S14)", async () => {
    const { ref, place } = await ledTeam();
    const teams = teamsIn(place.env, place.home);
    const words = ["spawn", "dev", "--teammate-mode", "process", "--json"];
    const both = await Promise.all([teams(words), teams(words)]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 4]);
    expect(both.find(({ code }) => code === 4)?.error().code).toBe("DUPLICATE_NAME");
    const instance = readPlace(ref, "dev")?.instance;
    expect(readTeam(ref).members.map(({ name }) => name)).toEqual([LEAD_NAME, "dev"]);
    const agents = processTable().filter(
      ({ pid }) => hasEnvEntry(pid, `TEAMS_HOME=${place.root}`) && /^\S*node \S+ agent /.test(argvOf(pid)),
    );
    expect(agents.map(({ pid }) => pid)).toEqual([readStatus(ref, "dev")?.process.pid]);
    expect(hasEnvEntry(agents[0]?.pid ?? 0, `TEAMS_INSTANCE=${instance}`)).toBe(true);
  });
});

function argvOf(pid: number | undefined): string {
  return spawnSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
}

describe("a failed spawn (S13)", () => {
  it.each<[string, (directory: string) => string[], RegExp]>([
    ["is missing", (directory) => [join(directory, "nowhere")], /nowhere/],
    ["is not executable", (directory) => [notExecutable(directory)], /126|[Pp]ermission/],
    [
      "exits at once",
      () => ["/bin/sh", "-c", "echo fatal: no backbone >&2; exit 3"],
      /3[\s\S]*fatal: no backbone/,
    ],
  ])("leaves the team unchanged when the program %s", async (_title, program, message) => {
    const { ref, ctx, spawn, place } = await ledTeam();
    await spawn("before");
    const config = readFileSync(ref.paths.config, "utf8");
    const inboxes = readdirSync(join(ref.paths.dir, "inboxes"));
    const failing = { ...ctx, program: program(place.home) };
    const inputs = [{ name: "dev", prompt: "hi" }];
    await expect(spawnTeammates(failing, inputs, { mode: "process" })).rejects.toMatchObject({
      code: "SPAWN_FAILED",
      message: expect.stringMatching(message),
    });
    expect(readFileSync(ref.paths.config, "utf8")).toBe(config);
    expect(readdirSync(join(ref.paths.dir, "inboxes"))).toEqual(inboxes);
    expect(existsSync(ref.paths.agent("dev").run)).toBe(false);
    expect(existsSync(ref.paths.agent("dev").runtime)).toBe(false);
    expect((await teamStatus(ctx)).members.map(({ name }) => name)).toEqual([LEAD_NAME, "before"]);
  });

  it("keeps the teammates that started, and names them", async () => {
    const { ref, ctx, place } = await ledTeam();
    const program = join(place.home, "agent.sh");
    writeFileSync(
      program,
      `#!/bin/sh\ncase "$*" in *bad@crew*) exit 7;; esac\nexec '${ctx.program.join("' '")}' "$@"\n`,
    );
    chmodSync(program, 0o755);
    const error = await spawnTeammates({ ...ctx, program: [program] }, [{ name: "good" }, { name: "bad" }], {
      mode: "process",
    }).catch((failure: unknown) => failure);
    expect(error).toMatchObject({
      code: "SPAWN_FAILED",
      message: expect.stringContaining("Started and still running: good."),
      details: { started: ["good"], failed: [{ name: "bad" }] },
    });
    expect(readTeam(ref).members.map(({ name }) => name)).toEqual([LEAD_NAME, "good"]);
    expect(startTimeOf(readStatus(ref, "good")?.process.pid ?? 0)).toBeDefined();
  });
});

function notExecutable(directory: string): string {
  const path = join(directory, "plain.txt");
  writeFileSync(path, "no program\n");
  chmodSync(path, 0o644);
  return path;
}

describe("an agent without its playbook file", () => {
  it("ends with the reason, is shown as crashed, and is reported to the lead", async () => {
    const { ctx, spawn } = await ledTeam();
    await spawn({ name: "dev", model: "scripted:/nowhere/play.json", prompt: "hi" });
    const dev = await eventually("the crash", async () =>
      (await teamStatus(ctx)).members.find(({ state }) => state === "crashed"),
    );
    expect(dev).toMatchObject({ name: "dev", alive: false, unread: 1 });
    const { exit } = await eventually("the exit record", async () =>
      (await teamStatus(ctx)).members.find((member) => member.exit !== null),
    );
    expect(exit?.lastLines.join("\n")).toContain("/nowhere/play.json");
  });
});
