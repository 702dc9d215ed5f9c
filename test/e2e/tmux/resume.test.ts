import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ResumeReport } from "../../../src/operations/resume/resume.ts";
import type { Env } from "../../../src/os/env.ts";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { agentsOf } from "../../support/processes/agent-processes.ts";
import { doneIn, startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { transcriptTexts } from "../../support/team/transcript-texts.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const ECHO = { version: 1, agents: { "*": [{ say: "I heard {{input}}", repeat: true }] } };
const MODEL = ["--model", "scripted:play.json"];

/** Creates a team in panes, led by commands from the user's pane. */
async function inPanes(...names: readonly string[]) {
  const t = privateTmux();
  const { pane } = t.session();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(ECHO));
  const ref = teamRef(teamsHome(t.env), "crew");
  const run = (words: readonly string[], from: Env = t.env) => teamsIn(from, t.home)(words);
  const done = doneIn(t.inside(pane), t.home);
  await done("create", "crew");
  for (const name of names) await done("spawn", name, ...MODEL, "--prompt", `to ${name}`);
  /** Waits until the agent has said this many texts and is idle. */
  const hasSaid = (name: string, count: number): Promise<unknown> =>
    eventually(
      `${name}'s ${count} turns`,
      () => transcriptTexts(ref, name).length === count && isAtRest(ref, name),
    );
  await Promise.all(names.map((name) => hasSaid(name, 1)));
  return {
    t,
    ref,
    run,
    done,
    hasSaid,
    pidOf: (name: string) => readStatus(ref, name)?.process.pid ?? 0,
    said: (name: string) => transcriptTexts(ref, name),
  };
}

const panesIn = (t: PrivateTmux): string[] =>
  t.tmux("list-panes", "-a", "-F", "#{window_name}:#{@teams_agent_id}").split("\n").sort();

it("resume after kill-server › rebuilds panes, conversations, messages and tasks (S51)", async () => {
  const { t, ref, run, hasSaid, said } = await inPanes("ada", "dev");
  await run(["task", "add", "count"]);
  await run(["task", "update", "1", "--owner", "dev", "--status", "in_progress"]);
  await hasSaid("dev", 2);
  const sessions = ["ada", "dev"].map((name) => readStatus(ref, name)?.sessionId);
  await t.killServer();
  await eventually("both ends", async () => {
    const { members } = (await run(["status", "--json"])).json<{
      members: { name: string; state: string }[];
    }>();
    return members.every(({ name, state }) => name === LEAD_NAME || state === "exited");
  });
  expect((await run(["send", "ada", "while you were away"])).out).toContain("waits for its restart");

  const { pane } = t.session();
  const ended = await run(["resume", "crew", "--json"], t.inside(pane));
  expect([ended.code, ended.err]).toEqual([0, ""]);
  expect(ended.json<ResumeReport>()).toMatchObject({
    lead: "yours",
    members: [
      { name: "ada", outcome: "restarted", conversation: sessions[0], taskIds: [] },
      { name: "dev", outcome: "restarted", conversation: sessions[1], taskIds: ["1"] },
    ],
  });
  await Promise.all([hasSaid("ada", 2), hasSaid("dev", 3)]);
  expect(said("ada")).toEqual(["I heard to ada", "I heard while you were away"]);
  expect(said("dev")[2]).toContain("#1");
  expect(panesIn(t)).toEqual(["crew:ada@crew", "crew:dev@crew", "mine:"]);
  expect(t.tmux("list-panes", "-t", "=work:crew", "-F", "#{pane_left}").split("\n")).toEqual(["0", "101"]);
  expect(readdirSync(join(t.root, "teams-sessions")).sort()).toEqual(
    sessions.map((id) => `${id}.jsonl`).sort(),
  );
  const task = (await run(["task", "show", "1", "--json"])).json<{ owner?: string }>();
  expect(JSON.stringify(task)).toContain('"owner":"dev"');
  expect((await run(["kill", "crew", "--force", "--purge"])).code).toBe(0);
  await leaves(t, nothing(["work:cat"]));
});

it("a pane closed by hand › is shown as exited, does not block a spawn, and opens again on resume (S9)", async () => {
  const { t, ref, done, hasSaid, pidOf, said } = await inPanes("ada", "dev");
  const [ada, dev] = [pidOf("ada"), pidOf("dev")];
  t.tmux("kill-pane", "-t", readPlace(ref, "dev")?.paneId ?? "");
  await eventually("dev's end", () => agentsOf(ref, "dev").length === 0);
  await done("spawn", "bob", ...MODEL);
  const status = (await done("status", "--json")).json<{
    members: { name: string; state: string }[];
    approvals: [];
  }>();
  expect(status.members.find(({ name }) => name === "dev")?.state).toBe("exited");
  expect(status.approvals).toEqual([]);

  expect((await done("resume")).out).toContain("dev was restarted with its conversation");
  await hasSaid("dev", 1);
  expect(said("dev")).toEqual(["I heard to dev"]);
  expect([pidOf("ada"), agentsOf(ref, "dev").length]).toEqual([ada, 1]);
  expect(pidOf("dev")).not.toBe(dev);
  const again = await done("resume", "--json");
  expect(again.json<ResumeReport>().members.map(({ name, outcome }) => [name, outcome])).toEqual([
    ["ada", "alive"],
    ["dev", "alive"],
    ["bob", "alive"],
  ]);
  expect(readTeam(ref).members.map(({ tmuxPaneId }) => tmuxPaneId)).toEqual([
    "",
    ...["ada", "dev", "bob"].map((name) => readPlace(ref, name)?.paneId),
  ]);

  expect((await done("down", "--timeout", "180")).out).toContain("dev has ended and stays in the team.");
  expect(panesIn(t)).toEqual(["mine:"]);
  const elsewhere = await done("resume", "--teammate-mode", "process", "--json");
  expect(elsewhere.json<ResumeReport>().members).toMatchObject(
    ["ada", "dev", "bob"].map((name) => ({ name, outcome: "restarted", backend: "process", paneId: null })),
  );
  await done("kill", "crew", "--force", "--purge");
  await leaves(t, nothing(["work:cat"]));
});

it("two resumes at once › start each dead member once, even if its pane waits for a key", async () => {
  const { t, ref, pidOf, hasSaid, done } = await inPanes("ada", "bob", "dev");
  const names = ["ada", "bob", "dev"];
  const bob = pidOf("bob");
  for (const name of ["ada", "dev"]) signalProcess(pidOf(name), "SIGSEGV");
  const paneIds = () => t.tmux("list-panes", "-a", "-F", "#{pane_id}").split("\n");
  await eventually(
    "the key hints of the crashed panes",
    () =>
      paneIds().filter((id) => t.tmux("capture-pane", "-p", "-t", id).includes("r + Enter starts it again"))
        .length === 2,
  );
  const two = [1, 2].map(() => startTeams(["resume", "crew", "--json"], t.env, t.home));
  const reports = await Promise.all(
    two.map(async ({ child, ended }) => {
      let out = "";
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        out += text;
      });
      expect(await ended).toBe(0);
      return JSON.parse(out) as ResumeReport;
    }),
  );
  const outcomes = names.map((name) =>
    reports.map(({ members }) => members.find((one) => one.name === name)?.outcome).sort(),
  );
  expect(outcomes).toEqual([
    ["alive", "restarted"],
    ["alive", "alive"],
    ["alive", "restarted"],
  ]);
  await Promise.all(names.map((name) => hasSaid(name, 1)));
  expect(names.map((name) => agentsOf(ref, name))).toEqual(names.map((name) => [pidOf(name)]));
  expect(pidOf("bob")).toBe(bob);
  expect(panesIn(t)).toEqual([...names.map((name) => `crew:${name}@crew`), "mine:"]);
  expect(readTeam(ref).members.map(({ metadata }) => metadata?._restart)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  await done("kill", "crew", "--force", "--purge");
  await leaves(t, nothing(["work:cat"]));
});

it("a killed lead › leaves its teammates running, and resume takes over with its messages (S43, S50)", async () => {
  const t = privateTmux();
  const spawn = { name: "Agent", input: { name: "worker", prompt: "work" } };
  const agents = {
    [LEAD_NAME]: [
      { tools: [spawn] },
      { tools: [{ name: "Bash", input: { command: "touch led; sleep 300" } }] },
    ],
    worker: [{ say: "I am there." }, { say: "I heard {{input}}", repeat: true }],
  };
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents }));
  const words = [
    "run",
    "--team",
    "crew",
    "--playbook",
    "play.json",
    "--permission-mode",
    "bypassPermissions",
  ];
  personInside(t, [...words, "--no-sidebar"]);
  const ref = teamRef(teamsHome(t.env), "crew");
  await eventually("the lead's command", () => existsSync(join(t.home, "led")));
  const { leadProcess, leadSessionId } = readTeam(ref);
  const worker = readStatus(ref, "worker")?.process.pid;
  signalProcess(leadProcess?.pid ?? 0, "SIGKILL");
  const teams = teamsIn(t.env, t.home);
  await eventually(
    "the lead's end",
    async () => (await teams(["status", "--json"])).json().leadAlive === false,
  );
  await teams(["send", LEAD_NAME, "are you there?", "--as", "worker"]);

  const resumed = (await teams(["resume", "--json"])).json<ResumeReport>();
  expect(resumed).toMatchObject({
    lead: "taken",
    members: [{ name: "worker", outcome: "alive", pid: worker }],
  });
  expect(resumed.unread).toBeGreaterThan(0);
  const now = readTeam(ref);
  expect(now.leadProcess).toBeUndefined();
  expect(now.leadSessionId).not.toBe(leadSessionId);
  const inbox = (await teams(["inbox", "--unread", "--json"])).json<{ messages: { text: string }[] }>();
  expect(inbox.messages.map(({ text }) => text)).toContain("are you there?");
  expect((await teams(["resume", "--json"])).json<ResumeReport>().lead).toBe("yours");
  expect(readTeam(ref).leadSessionId).toBe(now.leadSessionId);
  expect((await teams(["send", "worker", "go on"])).code).toBe(0);
  await eventually("worker's answer", () => transcriptTexts(ref, "worker").at(-1) === "I heard go on");
  expect((await teams(["kill", "crew", "--force", "--purge"])).code).toBe(0);
});

it("resume › restarts a member whose pane was just closed and whose agent is still ending", async () => {
  const { t, ref, done } = await inPanes();
  const long = { name: "Bash", input: { command: "trap '' HUP; touch working; sleep 300" } };
  writeFileSync(
    join(t.home, "long.json"),
    JSON.stringify({ version: 1, agents: { dev: [{ tools: [long] }] } }),
  );
  await done(
    "spawn",
    "dev",
    "--model",
    "scripted:long.json",
    "--permission-mode",
    "bypassPermissions",
    "--prompt",
    "begin",
  );
  await eventually("dev's command", () => existsSync(join(t.home, "working")));
  t.tmux("kill-pane", "-t", readPlace(ref, "dev")?.paneId ?? "");
  const { members } = (await done("resume", "--json")).json<ResumeReport>();
  expect(members).toMatchObject([
    { name: "dev", outcome: "restarted", paneId: readPlace(ref, "dev")?.paneId },
  ]);
  expect(agentsOf(ref, "dev")).toEqual([readStatus(ref, "dev")?.process.pid]);
});
