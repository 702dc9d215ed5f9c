import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { budgetsOf } from "../../../src/team/members/budget.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { type Line, scriptedTeam } from "../../support/model/scripted-team.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const uses = (name: string, input: object) => ({ name, input });
const spawns = (name: string, prompt: string) => uses("Agent", { name, prompt, description: "works" });
const asksToEnd = (recipient: string) =>
  uses("SendMessage", { type: "shutdown_request", recipient, content: "Thanks." });

const LEAD: readonly Line[] = [
  {
    when: /Do both/,
    uses: [
      uses("TeamCreate", { team_name: "First" }),
      uses("TaskCreate", { subject: "of the first", description: "d" }),
      spawns("ann", "Greet."),
    ],
  },
  { when: /teammate_spawned/, says: "She works." },
  { when: /greetings from ann/, uses: [asksToEnd("ann")] },
  { when: /ann has shut down/, uses: [uses("TeamDelete", {})] },
  {
    when: /tool_result.*is deleted/,
    uses: [
      uses("TeamCreate", { team_name: "Second", description: "the next" }),
      uses("TeamCreate", { team_name: "Third" }),
      uses("TaskCreate", { subject: "of the second", description: "d" }),
      spawns("ann", "Look around."),
    ],
  },
  { when: /ALREADY_LEADING.*teammate_spawned/, says: "She works again." },
  { when: /greetings from the second ann/, uses: [asksToEnd("ann")] },
  { when: /ann has shut down/, uses: [uses("TeamDelete", {})] },
  { when: /tool_result.*is deleted/, says: "Both are done." },
];

const greets = (content: string) =>
  uses("SendMessage", { type: "message", recipient: LEAD_NAME, content, summary: "greets" });
const ends: Line = {
  when: /(shutdown-\d+@ann)/,
  uses: [uses("SendMessage", { type: "shutdown_response", request_id: "$1", approve: true })],
};

const LOOKS = "touch looking; until [ -e seen ]; do sleep 0.1; done";

it.each(["tmux", "in-process"])(
  "TeamDelete and TeamCreate › a lead deletes its team and leads the next one in the same run (%s)",
  async (mode) => {
    const t = privateTmux();
    const ref = teamRef(teamsHome(t.env), "crew");
    const { script } = scriptedTeam({
      [LEAD_NAME]: LEAD,
      ann: [
        { when: /Greet/, uses: [greets("greetings from ann")] },
        ends,
        { when: /Look around/, uses: [uses("Bash", { command: LOOKS })] },
        { when: /no output/, uses: [greets("greetings from the second ann")] },
        ends,
      ],
    });
    const api = await startFakeMessagesApi(script);
    onTestFinished(() => api.close());
    const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
    const teams = teamsIn(env, t.home);
    const words = ["run", "--team", "crew", "--model", "claude-fake", "--max-tokens", "1000000"];
    const how = ["--permission-mode", "bypassPermissions", "--teammate-mode", mode, "--json"];
    const running = teams([...words, ...how, "Do both"]);
    await eventually("the second ann's command", () => existsSync(join(t.home, "looking")));
    expect((await teams(["status", "--json"])).json()).toMatchObject({
      leadAlive: true,
      members: [
        { name: LEAD_NAME, alive: true },
        { name: "ann", alive: true },
      ],
      tasks: { list: [{ id: "1", subject: "of the second" }] },
    });
    expect(readTeam(ref)).toMatchObject({ displayName: "Second", description: "the next" });
    // The budget still includes what the first ann has spent.
    expect(budgetsOf(ref, LEAD_NAME)).toMatchObject([{ limits: { maxTokens: 1_000_000 } }]);
    const spent = readStatus(ref, LEAD_NAME)?.tokens.input ?? 0;
    expect(budgetsOf(ref, LEAD_NAME)[0]?.spent.tokens).toBeGreaterThan(spent);
    // The lead supervises the new team: it reads a mode that another process sets.
    expect((await teams(["mode", LEAD_NAME, "acceptEdits"])).code).toBe(0);
    await eventually("the mode", () => readFileSync(ref.paths.events, "utf8").includes('"mode_changed"'));
    writeFileSync(join(t.home, "seen"), "");
    const { code, err, json } = await running;
    expect(code, err).toBe(0);
    expect(json()).toMatchObject({ outcome: "completed", result: "Both are done." });
    await leaves(t, nothing());
  },
);

it("run › does not end a new team of the same name after its team was deleted", async () => {
  const t = privateTmux();
  const waits = uses("Bash", { command: "touch looking; until [ -e seen ]; do sleep 0.1; done" });
  const agents = { [LEAD_NAME]: [{ tools: [waits] }, { say: "Seen." }] };
  writeFileSync(join(t.home, "book.json"), JSON.stringify({ version: 1, agents }));
  const teams = teamsIn(t.env, t.home);
  const mode = ["--permission-mode", "bypassPermissions", "--teammate-mode", "process"];
  const run = teams(["run", "Go.", "--playbook", "book.json", "--team", "crew", ...mode, "--json"]);
  await eventually("the lead's command", () => existsSync(join(t.home, "looking")));
  for (const words of [
    ["delete", "crew", "--force"],
    ["create", "crew"],
    ["task", "add", "of somebody else"],
    ["spawn", "ann", "--prompt", "Wait.", "--model", "scripted:book.json", ...mode],
  ])
    expect((await teams(words)).err, words.join(" ")).toBe("");
  writeFileSync(join(t.home, "seen"), "");
  await run;
  const { members, tasks } = (await teams(["status", "crew", "--json"])).json<{
    members: object[];
    tasks: { list: object[] };
  }>();
  expect(members).toMatchObject([{}, { name: "ann", alive: true }]);
  expect(tasks.list).toMatchObject([{ subject: "of somebody else" }]);
  expect((await teams(["delete", "crew", "--force"])).code).toBe(0);
});
