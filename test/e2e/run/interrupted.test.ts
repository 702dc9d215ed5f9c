import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startTeams, TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

/** A long command that ignores the hangup. */
const LONG = "trap '' HUP; touch working; sleep 300";
/** The same, with a process that leaves its session if setsid exists. */
const SCATTERED = `command -v setsid >/dev/null && setsid -f sleep 301; ${LONG}`;
const SPAWN = { name: "Agent", input: { name: "worker", prompt: "work" } };

/** Playbooks in which either the lead or its teammate is busy. */
const PLAYBOOKS = {
  lead: { "team-lead": [{ tools: [SPAWN] }, { tools: [bash(LONG)] }], worker: [{ say: "I am there." }] },
  worker: { "team-lead": [{ tools: [SPAWN] }, { say: "It works." }], worker: [{ tools: [bash(SCATTERED)] }] },
};

function bash(command: string): object {
  return { name: "Bash", input: { command } };
}

function playing(t: PrivateTmux, busy: keyof typeof PLAYBOOKS): readonly string[] {
  writeFileSync(join(t.home, "long.json"), JSON.stringify({ version: 1, agents: PLAYBOOKS[busy] }));
  return ["run", "--team", "crew", "--playbook", "long.json", "--permission-mode", "bypassPermissions"];
}

/** Collects the text of a stream. */
function textOf(stream: Readable | null): () => string {
  let text = "";
  stream?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  return () => text;
}

/** Expects the stopped team with all its members, and deletes it. */
async function expectKept(t: PrivateTmux, names: readonly string[]): Promise<void> {
  const teams = teamsIn(t.env, t.home);
  const kept = (await teams(["status", "--json"])).json();
  expect(kept).toMatchObject({ leadAlive: false, members: names.map((name) => ({ name, alive: false })) });
  expect((await teams(["delete", "crew"])).code).toBe(0);
}

async function atWork(t: PrivateTmux): Promise<void> {
  await eventually("the long command", () => existsSync(join(t.home, "working")));
}

describe("an interrupted run", () => {
  it("ends all processes, keeps the team and exits with 130 on two Ctrl-C", async () => {
    const t = privateTmux();
    const person = personInside(t, playing(t, "worker"));
    await atWork(t);
    await person.endsRun();
    expect(await person.code()).toBe(130);
    expect(person.screen()).toMatch(
      /worker: stopped[\s\S]*\nTo continue: teams run --resume --team crew\s*$/,
    );
    await expectKept(t, ["team-lead", "worker"]);
    await leaves(t, nothing(["work:cat"]));
  });

  it("leaves the team running, for kill, when another Ctrl-C interrupts --rm", async () => {
    const t = privateTmux();
    const person = personInside(t, [...playing(t, "worker"), "--rm"]);
    await atWork(t);
    await person.endsRun();
    await person.sees("press Ctrl-C again to exit now");
    person.type("C-c");
    expect(await person.code()).toBe(130);
    const teams = teamsIn(t.env, t.home);
    expect((await teams(["status", "--json"])).json()).toMatchObject({
      leadAlive: false,
      members: [{ name: "team-lead" }, { name: "worker", alive: true }],
    });
    expect((await teams(["kill", "crew", "--force", "--purge"])).code).toBe(0);
    await eventually(
      "the sidebar's end",
      () => t.tmux("list-panes", "-s", "-t", "=work:").split("\n").length === 1,
    );
    await leaves(t, nothing(["work:cat"]));
  });

  it("leaves the team running, for kill, when one Ctrl-C interrupts /exit --delete", async () => {
    const t = privateTmux();
    const person = personInside(t, playing(t, "worker"));
    await atWork(t);
    person.type("/exit --delete", "Enter");
    const inbox = join(t.paths("crew").inboxes, "worker.json");
    await eventually("the shutdown request", () => readFileSync(inbox, "utf8").includes("shutdown_request"));
    await person.sees("press Ctrl-C to exit now");
    person.type("C-c");
    expect(await person.code()).toBe(130);
    const teams = teamsIn(t.env, t.home);
    expect((await teams(["status", "--json"])).json()).toMatchObject({
      leadAlive: false,
      members: [{ name: "team-lead" }, { name: "worker", alive: true }],
    });
    expect((await teams(["kill", "crew", "--force", "--purge"])).code).toBe(0);
    await eventually(
      "the sidebar's end",
      () => t.tmux("list-panes", "-s", "-t", "=work:").split("\n").length === 1,
    );
    await leaves(t, nothing(["work:cat"]));
  });

  it.each(["SIGINT", "SIGTERM"] as const)("keeps the team and exits with 130 on %s", async (signal) => {
    const t = privateTmux();
    const { child, ended } = startTeams([...playing(t, "lead"), "--json"], t.env, t.home);
    const out = textOf(child.stdout);
    await atWork(t);
    child.kill(signal);
    expect(await ended).toBe(130);
    expect(JSON.parse(out())).toMatchObject({
      team: "crew",
      outcome: "interrupted",
      resume: "teams run --resume --team crew",
    });
    await expectKept(t, ["team-lead", "worker"]);
    await leaves(t, nothing());
  });

  it("fails with TEAM_NOT_FOUND if another command deletes its team", async () => {
    const t = privateTmux();
    const teams = teamsIn(t.env, t.home);
    const turns = [{ tools: [bash("touch begun; until [ -e go ]; do sleep 0.05; done")] }];
    writeFileSync(join(t.home, "mute.json"), JSON.stringify({ version: 1, agents: { "team-lead": turns } }));
    const how = ["--playbook", "mute.json", "--permission-mode", "bypassPermissions", "--json"];
    const running = teams(["run", "--team", "crew", ...how]);
    await eventually("the lead's command", () => existsSync(join(t.home, "begun")));
    expect((await teams(["delete", "crew", "--force"])).code).toBe(0);
    writeFileSync(join(t.home, "go"), "");
    const { code, out, error } = await running;
    expect([code, out, error().code]).toEqual([3, "", "TEAM_NOT_FOUND"]);
    await leaves(t, nothing());
  });

  it("waits for the user's next message after teams interrupt", async () => {
    const t = privateTmux();
    const turns = [{ tools: [bash(LONG)] }, { on: { contains: "go on" }, say: "I went on." }];
    writeFileSync(join(t.home, "long.json"), JSON.stringify({ version: 1, agents: { "team-lead": turns } }));
    const how = ["--playbook", "long.json", "--permission-mode", "bypassPermissions", "--json"];
    const teams = teamsIn(t.env, t.home);
    const running = teams(["run", "--team", "crew", ...how]);
    await atWork(t);
    expect((await teams(["interrupt", "team-lead"])).code).toBe(0);
    expect((await teams(["send", "team-lead", "go on"])).code).toBe(0);
    expect((await running).json()).toMatchObject({ outcome: "completed", result: "I went on." });
  });

  it("keeps the team and exits with 130 on SIGINT while it waits for a program", async () => {
    const t = privateTmux();
    const slow = join(t.home, "bin");
    mkdirSync(slow);
    const real = execFileSync("which", ["tmux"], { encoding: "utf8" }).trim();
    writeFileSync(
      join(slow, "tmux"),
      `#!/bin/sh\n: > "$HOME/called"\nuntil [ -e "$HOME/go" ]; do sleep 0.05; done\nexec ${real} "$@"\n`,
      {
        mode: 0o755,
      },
    );
    const env = { ...t.env, PATH: `${slow}:${t.env.PATH}` };
    const { child, ended } = startTeams(playing(t, "lead"), env, t.home);
    await eventually("a call of tmux", () => existsSync(join(t.home, "called")));
    child.kill("SIGINT");
    writeFileSync(join(t.home, "go"), "");
    expect(await ended).toBe(130);
    expect((await teamsIn(env, t.home)(["delete", "crew", "--force"])).code).toBe(0);
    await leaves(t, nothing());
  });

  it("leaves the team for resume when its terminal closes, even if signalled twice (S43)", async () => {
    const t = privateTmux();
    const teams = teamsIn(t.env, t.home);
    const { child, ended } = startTeams(playing(t, "worker"), t.env, t.home);
    const out = textOf(child.stdout);
    await atWork(t);
    expect((await teams(["task", "add", "must survive"])).code).toBe(0);
    child.kill("SIGHUP");
    child.kill("SIGHUP");
    expect(await ended).not.toBe(0);
    expect(out()).toMatch(
      /the terminal is gone; the team is left as it is\n[\s\S]*To continue: teams run --resume --team crew\n$/,
    );
    expect((await teams(["status", "--json"])).json()).toMatchObject({
      leadAlive: false,
      members: [{ name: "team-lead" }, { name: "worker", alive: true }],
      tasks: { pending: 1 },
    });
    expect((await teams(["resume", "crew", "--json"])).json()).toMatchObject({
      members: [{ name: "worker", outcome: "alive" }],
    });
    expect((await teams(["kill", "crew", "--force", "--purge"])).code).toBe(0);
    await leaves(t, nothing());
  });

  it("leaves members and tasks for resume when its tmux server ends (S51)", async () => {
    const t = privateTmux();
    const teams = teamsIn(t.env, t.home);
    personInside(t, playing(t, "worker"));
    await atWork(t);
    expect((await teams(["task", "add", "must survive"])).code).toBe(0);
    await t.killServer();
    await eventually("the end of all members", async () => {
      const { members } = (await teams(["status", "--json"])).json<{ members: { alive: boolean }[] }>();
      return members.length === 2 && members.every(({ alive }) => !alive);
    });
    expect((await teams(["resume", "crew", "--json"])).json()).toMatchObject({
      members: [{ name: "worker", outcome: "restarted" }],
    });
    expect((await teams(["task", "list"])).out).toContain("must survive");
    expect((await teams(["kill", "crew", "--force", "--purge"])).code).toBe(0);
    await leaves(t, nothing());
  });

  it("deletes the team with --rm when the reader of its output exits", async () => {
    const t = privateTmux();
    const words = [process.execPath, TEAMS, ...playing(t, "lead"), "--rm"];
    const cut = '{ "$0" "$@"; echo "$?" >code; } | head -n 1';
    execFileSync("/bin/sh", ["-c", cut, ...words], { env: t.env, cwd: t.home, stdio: "pipe" });
    expect(readFileSync(join(t.home, "code"), "utf8")).toBe("130\n");
    await leaves(t, nothing());
  });

  it("leaves nothing on SIGINT before its first agent starts", async () => {
    const t = privateTmux();
    const { child, ended } = startTeams(playing(t, "worker"), t.env, t.home);
    await eventually("the team", () => existsSync(t.paths("crew").config));
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    await leaves(t, nothing());
  });
});

describe("a killed lead", () => {
  it("leaves its teammates running, until kill and delete end the team (S43)", async () => {
    const t = privateTmux();
    const teams = teamsIn(t.env, t.home);
    const { child, ended } = startTeams(playing(t, "worker"), t.env, t.home);
    await atWork(t);
    child.kill("SIGKILL");
    await ended;
    const status = (await teams(["status", "--json"])).json<{
      leadAlive: boolean;
      members: { name: string; alive: boolean | null; state: string }[];
    }>();
    expect(status.leadAlive).toBe(false);
    expect(status.members).toMatchObject([
      { name: "team-lead", alive: false },
      { name: "worker", alive: true, state: "running" },
    ]);
    expect((await teams(["status"])).out).toMatch(
      /\n\nThe lead has ended; its teammate continues\. To let its model lead again: teams run --resume --team crew\. To lead the team yourself: teams resume crew\n$/,
    );
    const again = await teams([...playing(t, "worker"), "--json"]);
    expect([again.code, again.error().code]).toEqual([4, "TEAM_EXISTS"]);
    expect(again.error().hint).toContain("teams delete");
    const killed = await teams(["kill", "crew", "--timeout", "0.2", "--json"]);
    expect(killed.json()).toMatchObject({ kills: [{ name: "worker", outcome: "killed", left: [] }] });
    // Tasks and inboxes stay until the team is deleted (S47).
    expect(readdirSync(t.paths("crew").inboxes)).toContain("worker.json");
    expect((await teams(["delete", "crew"])).code).toBe(0);
    await leaves(t, nothing());
  });

  it("leaves files that status reads and kill --purge removes, when its server is killed too (S51)", async () => {
    const t = privateTmux();
    const teams = teamsIn(t.env, t.home);
    const { child, ended } = startTeams(playing(t, "worker"), t.env, t.home);
    await atWork(t);
    child.kill("SIGKILL");
    await ended;
    await t.killServer();
    const dead = await eventually("the worker's end", async () => {
      const { members } = (await teams(["status", "--json"])).json<{
        members: { name: string; state: string; exit: object | null }[];
      }>();
      // The launch script records the exit a moment later.
      return members.find(
        ({ name, state, exit }) => name === "worker" && state === "exited" && exit !== null,
      );
    });
    expect(dead.exit).toMatchObject({ signal: "SIGHUP" });
    expect((await teams(["kill", "crew", "--purge", "--json"])).json()).toMatchObject({
      kills: [{ name: "worker", outcome: "gone", left: [] }],
      purged: true,
    });
    await leaves(t, nothing());
  });
});
