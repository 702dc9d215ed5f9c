import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readMetadata } from "../../../src/schema/member-metadata.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { type Line, scriptedTeam } from "../../support/model/scripted-team.ts";
import { startTeams, TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const uses = (name: string, input: object) => ({ name, input });
/** A call that creates the file `here`, and ends when the file `go` exists. */
const waitsFor = (here: string, go: string) =>
  uses("Bash", { command: `touch ${here}; until [ -e ${go} ]; do sleep 0.05; done` });
const message = (recipient: string, content: string) =>
  uses("SendMessage", { type: "message", recipient, content, summary: "greets" });

/** Runs in the environment of the first name, and lists the tasks when the team has the second name. */
const ACTS_LATER = `until [ -e renamed ]; do sleep 0.05; done; node ${TEAMS} task list --json >later.new; mv later.new later`;

const LEAD: readonly Line[] = [
  {
    when: /Do both/,
    uses: [
      uses("TaskCreate", { subject: "of the first", description: "d" }),
      uses("Bash", { command: ACTS_LATER, run_in_background: true }),
      waitsFor("begun", "go1"),
      uses("TeamCreate", { team_name: "Review Team" }),
      waitsFor("renamed", "go2"),
      uses("Bash", { command: `node ${TEAMS} status --json >own.json` }),
      uses("Agent", { name: "ann", prompt: "Greet.", description: "works" }),
    ],
  },
  {
    when: /greetings from ann/,
    uses: [
      waitsFor("spawned", "go3"),
      uses("SendMessage", { type: "shutdown_request", recipient: "ann", content: "Thanks." }),
    ],
  },
  { when: /ann has shut down/, uses: [uses("TeamDelete", {})] },
  {
    when: /tool_result.*is deleted/,
    uses: [
      uses("TeamCreate", { team_name: "Next Team" }),
      uses("TaskCreate", { subject: "of the next", description: "d" }),
      uses("TaskUpdate", { taskId: "1", status: "completed" }),
      waitsFor("recreated", "go4"),
    ],
  },
  { when: /a late word/, says: "Both are done." },
];

const ANN: readonly Line[] = [{ when: /Greet/, uses: [message(LEAD_NAME, "greetings from ann")] }];

const teamsOf = (t: PrivateTmux) =>
  readdirSync(join(t.root, "teams")).filter((name) => !name.startsWith("."));

it.each([
  ["tmux", ["--detach"]],
  ["in-process", []],
] as const)(
  "TeamCreate › renames the run's team, before its first teammate and after TeamDelete (%s)",
  async (mode, more) => {
    const t = privateTmux();
    const { script } = scriptedTeam({ [LEAD_NAME]: LEAD, ann: ANN });
    const api = await startFakeMessagesApi(script);
    onTestFinished(() => api.close());
    const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
    const teams = teamsIn(env, t.home);
    const at = (mark: string) => eventually(mark, () => existsSync(join(t.home, mark)));
    const go = (mark: string) => writeFileSync(join(t.home, mark), "");
    const how = ["--permission-mode", "bypassPermissions", "--teammate-mode", mode, "--json", ...more];
    const running = teams(["run", "--model", "claude-fake", ...how, "Do both"]);

    await at("begun");
    const [first = ""] = teamsOf(t);
    expect(first).toMatch(/^run-[0-9a-f]{4}$/);
    // A command that watches the team continues under the new name.
    const watch = startTeams(["status", first, "--watch", "--json"], env, t.home);
    let watched = "";
    watch.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      watched += text;
    });
    await eventually("the first status", () => watched.includes(`"team":"${first}"`));
    go("go1");

    await at("renamed");
    expect(teamsOf(t)).toEqual(["review-team"]);
    expect(readdirSync(join(t.root, "tasks"))).toEqual(["review-team"]);
    for (const name of ["review-team", "Review Team", first]) {
      expect((await teams(["status", name, "--json"])).json(), name).toMatchObject({
        team: "review-team",
        displayName: "Review Team",
        leadAlive: true,
        members: [{ name: LEAD_NAME, state: "running" }],
        tasks: { list: [{ id: "1", subject: "of the first" }] },
      });
    }
    expect((await teams(["ls", "--json"])).json()).toMatchObject({ teams: [{ name: "review-team" }] });
    await eventually("the status of the new name", () => watched.includes('"team":"review-team"'));
    watch.child.kill("SIGINT");
    await watch.ended;
    await at("later");
    expect(JSON.parse(readFileSync(join(t.home, "later"), "utf8"))).toMatchObject({
      tasks: [{ subject: "of the first" }],
    });
    go("go2");

    if (mode === "tmux") {
      await eventually("the sidebar of the new name", () =>
        t.tmux("list-panes", "-a", "-F", "#{@teams_sidebar}").trim().endsWith("/review-team"),
      );
    }

    await at("spawned");
    expect(JSON.parse(readFileSync(join(t.home, "own.json"), "utf8"))).toMatchObject({ team: "review-team" });
    expect((await teams(["status", "--json"])).json()).toMatchObject({
      members: [{ name: LEAD_NAME }, { name: "ann", alive: true }],
    });
    if (mode === "tmux") {
      // The lead's session serves the new name too: no second session opens.
      const rows = t.tmux("list-panes", "-a", "-F", "#{session_name} #{@teams_agent_id}").split("\n");
      expect(rows).toContain(`teams-${first} ann@review-team`);
      expect(new Set(rows.map((row) => row.split(" ")[0]))).toEqual(new Set([`teams-${first}`]));
    }
    go("go3");

    await at("recreated");
    expect(teamsOf(t)).toEqual(["next-team"]);
    expect((await teams(["status", "review-team", "--json"])).error().code).toBe("TEAM_NOT_FOUND");
    for (const name of ["next-team", first]) {
      expect((await teams(["status", name, "--json"])).json(), name).toMatchObject({
        team: "next-team",
        leadAlive: true,
        tasks: { list: [{ id: "1", subject: "of the next" }] },
      });
    }
    if (mode === "tmux") {
      const panes = t.tmux("list-panes", "-a", "-F", "#{pane_id}").trim().split("\n");
      const texts = panes.map((pane) => t.tmux("capture-pane", "-p", "-S", "-", "-t", pane));
      const shown = texts.join("\n").replace(/\s+/g, " ");
      expect(shown).toContain(`the team is now called review-team; its former name ${first} still works`);
      expect(shown).toContain("the team is now called next-team");
      expect(shown).not.toContain("next-team; its former name review-team");
    }
    const sent = await teams(["send", `${LEAD_NAME}@${first}`, "a late word"]);
    expect([sent.code, sent.err]).toEqual([0, ""]);
    go("go4");

    const ended = await running;
    expect(ended.code, ended.err).toBe(0);
    const { resultFile } = ended.json<{ resultFile?: string }>();
    const result =
      resultFile === undefined
        ? ended.json()
        : await eventually("the result", () => {
            const read = JSON.parse(readFileSync(resultFile, "utf8"));
            return read.kind === "ended" && read.result;
          });
    expect(result).toMatchObject({ team: "next-team", outcome: "completed", result: "Both are done." });
    await leaves(t, nothing());
  },
);

it("TeamCreate › sets only the display name when another team has the name, and leaves that team alone", async () => {
  const t = privateTmux();
  const lead = [
    { tools: [uses("TeamCreate", { team_name: "taken" })] },
    { tools: [waitsFor("named", "go")] },
    { say: "Done." },
  ];
  writeFileSync(join(t.home, "book.json"), JSON.stringify({ version: 1, agents: { [LEAD_NAME]: lead } }));
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "taken"]);
  await teams(["task", "add", "of a person", "--team", "taken"]);
  const mode = ["--permission-mode", "bypassPermissions", "--teammate-mode", "process", "--json"];
  const run = teams(["run", "Go.", "--playbook", "book.json", ...mode]);
  await eventually("the name", () => existsSync(join(t.home, "named")));
  const [own = "", ...others] = teamsOf(t).toSorted();
  expect([own, others]).toEqual([expect.stringMatching(/^run-/), ["taken"]]);
  expect((await teams(["status", own, "--json"])).json()).toMatchObject({ team: own, displayName: "taken" });
  expect((await teams(["status", "taken", "--json"])).json()).toMatchObject({
    leadAlive: null,
    tasks: { list: [{ subject: "of a person" }] },
  });
  writeFileSync(join(t.home, "go"), "");
  expect((await run).json()).toMatchObject({ team: own });
  expect(teamsOf(t)).toEqual(["taken"]);
});

it("run --resume › finds a renamed team by its former name when its lead was killed", async () => {
  const t = privateTmux();
  const lead = [
    {
      tools: [
        uses("TaskCreate", { subject: "open", description: "d" }),
        uses("TeamCreate", { team_name: "review" }),
        waitsFor("named", "never"),
      ],
    },
    { tools: [uses("TaskUpdate", { taskId: "1", status: "completed" })] },
    { say: "Resumed." },
  ];
  writeFileSync(join(t.home, "book.json"), JSON.stringify({ version: 1, agents: { [LEAD_NAME]: lead } }));
  const mode = ["--permission-mode", "bypassPermissions", "--teammate-mode", "process", "--json"];
  const killed = startTeams(["run", "Go.", "--playbook", "book.json", ...mode], t.env, t.home);
  await eventually("the name", () => existsSync(join(t.home, "named")));
  killed.child.kill("SIGKILL");
  await killed.ended;
  const renamed = readTeam(teamRef(teamsHome(t.env), "review"));
  const [first = ""] = readMetadata(renamed, "formerNames") ?? [];
  const resumed = await teamsIn(t.env, t.home)(["run", "--resume", "--team", first, ...mode]);
  expect([resumed.err, resumed.json()]).toMatchObject(["", { team: "review", result: "Resumed." }]);
  await leaves(t, nothing());
});
