import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { type Line, scriptedTeam } from "../../support/model/scripted-team.ts";
import { startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const uses = (name: string, input: object) => ({ name, input });
const writes = (file: string) => uses("Write", { file_path: file, content: "text\n" });
const says = (content: string) =>
  uses("SendMessage", { type: "message", recipient: LEAD_NAME, content, summary: "says it" });

/** Runs without a terminal on the fake API, and expects success. */
async function runOf(t: PrivateTmux, cast: Readonly<Record<string, readonly Line[]>>, ...words: string[]) {
  const api = await startFakeMessagesApi(scriptedTeam(cast).script);
  onTestFinished(() => api.close());
  const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
  const common = ["run", "--team", "crew", "--model", "claude-fake"];
  const ended = await teamsIn(env, t.home)([...common, ...words]);
  expect(ended.code, ended.err).toBe(0);
  return { ended, requests: api.requests };
}

const systemOf = (requests: readonly { readonly body: { readonly system: unknown } }[], who: string) =>
  requests.map(({ body }) => JSON.stringify(body.system)).find((system) => system.includes(`You are ${who}`));

it.each(["tmux", "in-process"])(
  "run without a terminal › ends its team before it prints the result, even if its lead does not (%s)",
  async (mode) => {
    const t = privateTmux();
    const cast = {
      [LEAD_NAME]: [
        { when: /Look/, uses: [uses("Agent", { name: "ann", prompt: "Greet.", description: "greets" })] },
        { when: /greetings/, says: "All have greeted." },
        { when: /ann is idle/, says: "All have greeted." },
      ],
      ann: [{ when: /Greet/, uses: [says("greetings")] }],
    };
    const words = ["--permission-mode", "bypassPermissions", "--teammate-mode", mode, "Look"];
    const { ended, requests } = await runOf(t, cast, ...words);
    // The lead's prompt is for a run without a person; the team ends before the result.
    expect(systemOf(requests, LEAD_NAME)).toContain("You run without a person");
    expect(ended.out).toMatch(
      /the lead did not shut its teammates down[\s\S]*ann: shut down[\s\S]*All have greeted\.\s*$/,
    );
    await leaves(t, nothing());
  },
);

it("delegate mode › denies the lead the edits that its teammates may make (S53)", async () => {
  const t = privateTmux();
  const cast = {
    [LEAD_NAME]: [
      { when: /Write/, uses: [writes("lead.md")] },
      {
        when: /tool_result/,
        uses: [
          uses("TaskCreate", { subject: "write it", description: "d" }),
          uses("Agent", { name: "ann", prompt: "Begin.", description: "writes" }),
        ],
      },
      { when: /it is written/, uses: [uses("TaskUpdate", { taskId: "1", status: "completed" })] },
      { when: /tool_result/, says: "She writes." },
      { when: /tool_result/, says: "Done." },
      { when: /ann is idle/, says: "Done." },
    ],
    ann: [
      { when: /Begin/, uses: [writes("ann.md")] },
      { when: /tool_result/, uses: [says("it is written")] },
    ],
  };
  const words = ["--delegate", "--permission-mode", "acceptEdits", "--json", "Write it"];
  const { ended, requests } = await runOf(t, cast, ...words);
  expect(ended.json()).toMatchObject({ result: "Done." });
  expect(["lead.md", "ann.md"].map((file) => existsSync(join(t.home, file)))).toEqual([false, true]);
  const { paths } = teamRef(teamsHome(t.env), "crew");
  expect(systemOf(requests, LEAD_NAME)).toContain(paths.tasks);
  const first = requests[0]?.body as { readonly tools: readonly { readonly name: string }[] } | undefined;
  const offered = first?.tools.map(({ name }) => name);
  expect(offered).not.toContain("Write");
  expect(offered).toEqual(expect.arrayContaining(["Agent", "SendMessage", "TaskCreate", "TeamDelete"]));
  const denied = requests.map(({ body }) => JSON.stringify(body.messages.at(-1)));
  expect(denied.find((text) => text.includes("tool_result"))).toContain("is_error");
  await leaves(t, nothing());
});

it("waiting lead › is notified when a teammate ends its turn without an answer", async () => {
  const t = privateTmux();
  const cast = {
    [LEAD_NAME]: [
      { when: /Look/, uses: [uses("Agent", { name: "ann", prompt: "Greet.", description: "greets" })] },
      { when: /ann is idle.*said nothing/s, says: "ann had no answer." },
    ],
    ann: [{ when: /Greet/, says: "" }],
  };
  const { ended } = await runOf(t, cast, "--permission-mode", "bypassPermissions", "Look");
  expect(ended.out).toMatch(/ann had no answer\.\s*$/);
  await leaves(t, nothing());
});

it("unanswered plan › is reported to the user, whose approval lets the run end (S16)", async () => {
  const t = privateTmux();
  const planner = uses("Agent", { name: "ann", prompt: "Plan it.", plan_mode_required: true });
  const plan = uses("Write", { file_path: "{{plan_file}}", content: "# Plan\nGreet." });
  const agents = {
    [LEAD_NAME]: [{ tools: [planner] }, { say: "I wait." }, { say: "What a plan." }, { say: "All is done." }],
    ann: [{ tools: [plan, uses("ExitPlanMode", {})] }, { say: "Greeted." }],
  };
  const book = join(t.home, "book.json");
  writeFileSync(book, JSON.stringify({ version: 1, agents }));
  const words = ["run", "Go.", "--playbook", book, "--team", "crew", "--teammate-mode", "process", "--json"];
  const { child, ended } = startTeams(words, t.env, t.home);
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const wait =
    /^teams: ann is still waiting for an answer to its plan: teams approve (plan_approval-\S+), or/gm;
  const [, id = ""] = await eventually("the note about the plan", () => [...stderr.matchAll(wait)][0]);
  expect((await teamsIn(t.env, t.home)(["approve", id])).code).toBe(0);
  expect(await ended).toBe(0);
  expect([...stderr.matchAll(wait)]).toHaveLength(1);
});

it.each(["tmux", "in-process"])(
  "run › continues once the approval that its only busy teammate awaits is given (%s)",
  async (mode) => {
    const t = privateTmux();
    const cast = {
      [LEAD_NAME]: [
        { when: /Look/, uses: [uses("Agent", { name: "ann", prompt: "Make it.", description: "makes it" })] },
        { when: /ann is idle.*It is made/s, says: "ann has made it." },
      ],
      ann: [
        { when: /Make it/, uses: [uses("Bash", { command: "sleep 0.5; touch made" })] },
        { when: /tool_result/, says: "It is made." },
      ],
    };
    const running = runOf(t, cast, "--teammate-mode", mode, "Look");
    const teams = teamsIn(t.env, t.home);
    const id = await eventually("the request", async () => {
      const { code, json } = await teams(["approvals", "--json"]);
      return code === 0 && json<{ approvals: { id: string }[] }>().approvals[0]?.id;
    });
    expect((await teams(["approve", id])).code).toBe(0);
    const { ended } = await running;
    expect(ended.out).toMatch(/ann has made it\.\s*$/);
    await leaves(t, nothing());
  },
);
