import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Env } from "../../../src/os/env.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { unreadCount } from "../../../src/team/mailbox/receive.ts";
import { livenessOfAgent, readStatus } from "../../../src/team/records/read-records.ts";
import { type TeamRef, teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, markedProcesses, nothing } from "../../support/assertions/leftovers.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { type Line, scriptedTeam } from "../../support/model/scripted-team.ts";
import { startTeams, TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const uses = (name: string, input: object) => ({ name, input });
const says = (content: string) =>
  uses("SendMessage", { type: "message", recipient: LEAD_NAME, content, summary: "says it" });

/** The model of a lead that is killed while its teammate works, and of the lead that resumes the team. */
const LEAD: readonly Line[] = [
  {
    when: /Count the words/,
    uses: [
      uses("TaskCreate", { subject: "count them", description: "d" }),
      uses("TaskUpdate", { taskId: "1", owner: LEAD_NAME, status: "in_progress" }),
      uses("Agent", { name: "ann", prompt: "Count.", description: "counts" }),
    ],
  },
  { when: /teammate_spawned/, says: "She counts." },
  {
    when: /There are 3/,
    uses: [
      uses("TaskList", {}),
      uses("SendMessage", { type: "shutdown_request", recipient: "ann", content: "Thanks." }),
    ],
  },
  { when: /ann has shut down/, says: "It has 3 words." },
];
const ANN: readonly Line[] = [
  {
    when: /Count\./,
    uses: [uses("Bash", { command: "touch counting; until [ -e go ]; do sleep 0.1; done" })],
  },
  { when: /tool_result/, uses: [says("There are 3 words.")] },
];

interface OrphanedTeam {
  readonly t: PrivateTmux;
  readonly ref: TeamRef;
  readonly teams: ReturnType<typeof teamsIn>;
  readonly requests: Awaited<ReturnType<typeof startFakeMessagesApi>>["requests"];
  readonly sessionId: string;
  readonly env: Env;
}

/** Creates a team whose lead was killed after its first turn. */
async function orphanedTeam(mode: string): Promise<OrphanedTeam> {
  const t = privateTmux();
  const api = await startFakeMessagesApi(scriptedTeam({ [LEAD_NAME]: LEAD, ann: ANN }).script);
  onTestFinished(() => api.close());
  const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
  const ref = teamRef(teamsHome(t.env), "crew");
  const words = ["run", "--team", "crew", "--model", "claude-fake", "--permission-mode", "bypassPermissions"];
  const { child, ended } = startTeams([...words, "--teammate-mode", mode, "Count the words"], env, t.home);
  await eventually("ann's command", () => existsSync(join(t.home, "counting")));
  await eventually("the lead to be idle", () => isAtRest(ref, LEAD_NAME));
  const teams = teamsIn(env, t.home);
  const refused = await teams(["run", "--resume", "--json"]);
  expect([refused.code, refused.error().code]).toEqual([4, "ALREADY_LEADING"]);
  child.kill("SIGKILL");
  await ended;
  return { t, ref, teams, requests: api.requests, sessionId: readTeam(ref).leadSessionId, env };
}

describe("run --resume after the lead was killed (S43, S49, S50)", () => {
  it.each([
    ["continues the old conversation", true],
    ["starts a new conversation if the old one is gone", false],
  ])("%s, with new messages and the same teammate", async (_, continues) => {
    const { t, ref, teams, requests, sessionId } = await orphanedTeam("tmux");
    writeFileSync(join(t.home, "go"), "");
    await eventually("ann's report", () => unreadCount(ref, LEAD_NAME) >= 2);
    // teams resume in between does not take over the lead.
    if (continues) expect((await teams(["resume"])).out).toContain("teams run --resume --team crew");
    else rmSync(readStatus(ref, LEAD_NAME)?.transcript ?? "");
    const asked = requests.length;
    const { code, err, json } = await teams(["run", "--resume", "--keep", "--json"]);
    expect(code, err).toBe(0);
    expect(json()).toMatchObject({ team: "crew", outcome: "completed", result: "It has 3 words." });
    const [first] = requests.slice(asked);
    const read = JSON.stringify(first?.body.messages);
    expect(read).toContain("you are its lead from now on");
    expect(read).toContain("- ann (general-purpose, idle)");
    expect(read).toContain("#1 (in_progress; yours): count them");
    expect(read.includes("Count the words")).toBe(continues);
    const heard = JSON.stringify(requests.slice(asked).map(({ body }) => body.messages));
    expect(heard).toContain("There are 3 words.");
    // The lead's task is not free, although the process that claimed it is dead.
    expect(heard).toMatch(/in_progress\W+(?:n\W+)?owner\W+team-lead/);
    const { leadSessionId, joinedCount, former } = readTeam(ref);
    expect(leadSessionId === sessionId).toBe(continues);
    expect({ joinedCount, former }).toMatchObject({
      joinedCount: 1,
      former: [{ name: "ann", how: "shutdown" }],
    });
    expect(startsOf(ref, "ann")).toBe(1);
    expect((await teams(["delete", "crew", "--force"])).code).toBe(0);
    await leaves(t, nothing());
  });

  it("restores the manual lead of a user's team, with its open tasks, after every run", async () => {
    const t = privateTmux();
    const api = await startFakeMessagesApi(scriptedTeam({ [LEAD_NAME]: [] }).script);
    onTestFinished(() => api.close());
    const teams = teamsIn(
      { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-0000" },
      t.home,
    );
    await teams(["create", "mine"]);
    await teams(["task", "add", "read it"]);
    for (let i = 0; i < 2; i += 1) {
      const { code, err } = await teams(["run", "--resume", "--model", "claude-fake"]);
      expect([code, err]).toEqual([
        0,
        expect.stringMatching(/^mine was led by hand, so it is kept when the run ends\.\n/),
      ]);
      expect(readTeam(teamRef(teamsHome(t.env), "mine")).members).toMatchObject([{ name: LEAD_NAME }]);
      expect((await teams(["task", "list"])).out).toContain("read it");
      expect((await teams(["status"])).out).toContain("led by hand");
    }
    const [first] = api.requests;
    expect(JSON.stringify(first?.body.messages)).toContain("A person led this team until now");
    expect((await teams(["delete", "mine", "--force"])).code).toBe(0);
    await leaves(t, nothing());
  });

  it("waits for input in a terminal, with the team running", async () => {
    const { t, ref, teams, env } = await orphanedTeam("tmux");
    const { ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY } = env;
    const person = personInside(t, ["run", "--resume", "--no-sidebar"], {
      env: { ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY },
    });
    await person.sees("ann: alive");
    writeFileSync(join(t.home, "go"), "");
    await person.sees("It has 3 words.");
    person.type("/status", "Enter");
    await person.sees("lead is running");
    expect(startsOf(ref, "ann")).toBe(1);
    person.type("/exit", "Enter");
    await person.sees("the run is over; the team crew was kept");
    expect(await person.code()).toBe(0);
    expect((await teams(["delete", "crew", "--force"])).code).toBe(0);
    await leaves(t, nothing(["work:cat"]));
  });

  it("replaces the previous sidebar", async () => {
    const { t, env } = await orphanedTeam("process");
    const { ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY } = env;
    const { pane } = t.session("left", { width: 160, height: 50 });
    const teams = teamsIn(env, t.home);
    const split = await teams(["sidebar", "--split", "--json"], { env: t.inside(pane) });
    const { paneId } = split.json<{ paneId: string }>();
    t.tmux(
      "respawn-pane",
      "-k",
      "-t",
      pane,
      "-c",
      t.home,
      "-e",
      `ANTHROPIC_BASE_URL=${ANTHROPIC_BASE_URL}`,
      "-e",
      `ANTHROPIC_API_KEY=${ANTHROPIC_API_KEY}`,
      "--",
      process.execPath,
      TEAMS,
      "run",
      "--resume",
      "--rm",
    );
    const panes = (): string[] =>
      t.tmux("list-panes", "-t", pane, "-F", "#{pane_id} #{pane_width}").split("\n");
    await eventually("another sidebar", () => {
      const [lead, sidebar = paneId, more] = panes();
      return (
        lead === `${pane} 125` && sidebar.endsWith(" 34") && !sidebar.startsWith(paneId) && more === undefined
      );
    });
    writeFileSync(join(t.home, "go"), "");
    await eventually("the text", () => t.tmux("capture-pane", "-p", "-t", pane).includes("It has 3 words."));
    t.tmux("send-keys", "-t", pane, "/exit", "Enter");
    await leaves(t, nothing());
  });

  it("leaves the team as it is when the model's server rejects the key", async () => {
    const { t, ref, teams } = await orphanedTeam("tmux");
    const { pid } = readStatus(ref, "ann")?.process ?? {};
    writeFileSync(join(t.home, "go"), "");
    const api = await startFakeMessagesApi([], { key: "another" });
    onTestFinished(() => api.close());
    const refused = await teams(["run", "--resume", "--json", "Go on"], {
      env: { ANTHROPIC_BASE_URL: api.url },
    });
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.err.trim().split("\n").at(-1) ?? "")).toMatchObject({
      error: {
        code: "MODEL_ERROR",
        hint: "The team is left as it is. To continue: teams run --resume --team crew",
      },
    });
    expect(livenessOfAgent(ref, "ann")).toBe("alive");
    expect(readStatus(ref, "ann")?.process.pid).toBe(pid);
    const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
    const person = personInside(t, ["run", "--resume", "Go on"], { env });
    await person.sees("type a line to try again");
    expect(livenessOfAgent(ref, "ann")).toBe("alive");
    person.type("/exit", "Enter");
    expect(await person.code()).toBe(1);
    expect(person.screen()).toContain("the run is over; the team crew was kept");
    expect(t.tmux("list-panes", "-t", "=work:", "-F", "#{pane_id}")).toBe(person.pane);
    expect((await teams(["delete", "crew", "--force"])).code).toBe(0);
    await leaves(t, nothing(["work:cat"]));
  });

  it("restarts in-process teammates with their conversations", async () => {
    const { t, ref, teams, requests } = await orphanedTeam("in-process");
    writeFileSync(join(t.home, "go"), "");
    const asked = requests.length;
    const { code, err, json } = await teams(["run", "--resume", "--keep", "--json", "How far is it?"]);
    expect(code, err).toBe(0);
    expect(json()).toMatchObject({ outcome: "completed", result: "It has 3 words." });
    const annRequests = requests
      .slice(asked)
      .filter(({ body }) => JSON.stringify(body.system).includes("You are ann"));
    expect(JSON.stringify(annRequests[0]?.body.messages)).toContain("touch counting");
    expect(JSON.stringify(requests.slice(asked).map(({ body }) => body.messages))).toContain(
      "How far is it?",
    );
    expect(readTeam(ref)).toMatchObject({ joinedCount: 1, former: [{ name: "ann", how: "shutdown" }] });
    expect(startsOf(ref, "ann")).toBe(2);
    expect((await teams(["delete", "crew", "--force"])).code).toBe(0);
    await leaves(t, nothing());
  });
});

/** Counts the starts of a member's agent. */
function startsOf(ref: TeamRef, name: string): number {
  const lines = readFileSync(ref.paths.events, "utf8").split("\n");
  return lines.filter((line) => line.includes('"what":"started"') && line.includes(`"${name}@`)).length;
}

it.each([
  ["resume", ["resume", "crew"]],
  ["run --resume", ["run", "--resume", "--json"]],
  ["kill", ["kill", "--team", "crew"]],
  ["delete", ["delete", "crew"]],
])("%s ends the running command of a killed lead", async (_, words) => {
  const t = privateTmux();
  const works = uses("Bash", { command: "touch working; setsid sleep 300 & sleep 300; touch done" });
  const agents = { [LEAD_NAME]: [{ tools: [works] }, { say: "Over." }] };
  writeFileSync(join(t.home, "book.json"), JSON.stringify({ version: 1, agents }));
  const how = ["--team", "crew", "--permission-mode", "bypassPermissions", "--teammate-mode", "process"];
  const { child, ended } = startTeams(["run", "Go.", "--playbook", "book.json", ...how], t.env, t.home);
  const sleeps = () => markedProcesses(t).filter(({ name }) => name.startsWith("sleep"));
  await eventually("the lead's command", () => existsSync(join(t.home, "working")) && sleeps().length === 2);
  child.kill("SIGKILL");
  await ended;
  expect(sleeps()).toHaveLength(2);
  const { code, err } = await teamsIn(t.env, t.home)(words);
  expect(code, err).toBe(0);
  expect(sleeps()).toEqual([]);
  expect(existsSync(join(t.home, "done"))).toBe(false);
});
