import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { filesWith, leaves, leftoversOf, nothing } from "../../support/assertions/leftovers.ts";
import {
  type FakeOptions,
  type FakeReply,
  startFakeMessagesApi,
} from "../../support/model/fake-messages-api.ts";
import { type Line, scriptedTeam } from "../../support/model/scripted-team.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const KEY = "sk-ant-test-0f9e8d7c6b5a43210";

const RATE_LIMITED: FakeReply = {
  kind: "error",
  status: 429,
  type: "rate_limit_error",
  headers: { "retry-after": "2" },
};
const OVERLOADED: FakeReply = {
  kind: "error",
  status: 529,
  type: "overloaded_error",
  headers: { "retry-after-ms": "50" },
};
const BROKEN: FakeReply = {
  kind: "error",
  status: 500,
  type: "api_error",
  headers: { "retry-after-ms": "50" },
};
const CUT: FakeReply = {
  kind: "message",
  blocks: [{ type: "text", text: "This half sentence will never be" }],
  cutAfter: 5,
};

/** A lead that lets one teammate count words, and then ends its team. */
const LEAD: readonly Line[] = [
  {
    when: /Count the words/,
    first: [RATE_LIMITED],
    says: `I ask a counter. My key is ${KEY}.`,
    uses: [
      { name: "TaskCreate", input: { subject: "Count words", description: "Of text.txt" } },
      {
        name: "Agent",
        input: { name: "counter", prompt: "Do task 1: write text.txt and count it.", description: "counts" },
      },
    ],
  },
  { when: /tool_result.*counter is ready/, says: "It counts." },
  {
    when: /There are 3 words/,
    uses: [
      { name: "SendMessage", input: { type: "shutdown_request", recipient: "counter", content: "Thanks." } },
    ],
  },
  { when: /counter has shut down/, first: [OVERLOADED], uses: [{ name: "TeamDelete", input: {} }] },
  { when: /tool_result.*is deleted/, says: "The text has 3 words." },
];

const COUNTER: readonly Line[] = [
  {
    when: /Do task 1/,
    first: [BROKEN, CUT],
    says: "I write it first.",
    uses: [
      { name: "TaskUpdate", input: { taskId: "1", owner: "counter", status: "in_progress" } },
      { name: "Write", input: { file_path: "text.txt", content: "one two three\n" } },
    ],
  },
  {
    when: /text\.txt/,
    uses: [
      { name: "Bash", input: { command: `wc -w < text.txt; echo key=${KEY}; env`, description: "count" } },
    ],
  },
  {
    when: /key=/,
    uses: [
      { name: "TaskUpdate", input: { taskId: "1", status: "completed" } },
      {
        name: "SendMessage",
        input: {
          type: "message",
          recipient: "team-lead",
          content: "There are 3 words.",
          summary: "3",
        },
      },
    ],
  },
];

async function world(
  cast: Readonly<Record<string, readonly Line[]>>,
  options: FakeOptions = {},
): Promise<{
  readonly t: PrivateTmux;
  readonly run: (...words: string[]) => ReturnType<ReturnType<typeof teamsIn>>;
  readonly team: ReturnType<typeof scriptedTeam>;
}> {
  const t = privateTmux();
  const team = scriptedTeam(cast);
  const api = await startFakeMessagesApi(team.script, options);
  onTestFinished(() => api.close());
  const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: KEY };
  const teams = teamsIn({ ...t.env, ...env }, t.home);
  return { t, team, run: (...words) => teams(["run", "--team", "crew", "--model", "claude-fake", ...words]) };
}

describe("a team with a model of the Messages API", () => {
  it("completes a task despite server errors, prints its result, and leaves nothing", async () => {
    const { t, run, team } = await world({ "team-lead": LEAD, counter: COUNTER });
    const ended = await run(
      "--permission-mode",
      "bypassPermissions",
      "--json",
      "--verbose",
      "Count the words",
    );
    expect(ended.code, ended.err).toBe(0);
    const heard = team.asked.map(({ agent, newest }) => `${agent}: ${newest}`).join("\n");
    expect(ended.json(), heard).toMatchObject({
      team: "crew",
      outcome: "completed",
      result: expect.stringMatching(/^The text has 3 words/),
    });
    expect(readFileSync(join(t.home, "text.txt"), "utf8")).toBe("one two three\n");
    await leaves(t, nothing());
    const [first, second] = team.asked.filter(({ agent }) => agent === "team-lead");
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2000);
    const counted = team.asked.find(({ newest }) => newest.includes("key="));
    expect(counted?.newest).not.toMatch(/ANTHROPIC_(API_KEY|AUTH_TOKEN)=/);
    const attempts = team.asked.filter(({ newest }) => newest.includes("Do task 1"));
    expect(attempts.map(({ agent }) => agent)).toEqual(["counter", "counter", "counter"]);
    expect(ended.err).toContain("429");
    expect(filesWith(t.root, "This half sentence")).toEqual([]);
  });

  it("writes its key to no file under the root, whichever agent prints it (S75)", async () => {
    // Without its last two lines the lead does not end the team, so --keep keeps it for this check.
    const { t, run } = await world({ "team-lead": LEAD.slice(0, 3), counter: COUNTER });
    const ended = await run(
      ...["--permission-mode", "bypassPermissions", "--teammate-mode", "process", "--keep", "-q"],
      "Count the words",
    );
    expect(ended.code, ended.err).toBe(0);
    expect(filesWith(t.root, KEY)).toEqual([]);
    expect(filesWith(t.runtime, KEY)).toEqual([]);
    expect(filesWith(t.root, "[secret]")).toHaveLength(2);
    expect(leftoversOf(t)).toMatchObject({ panes: [], processes: [], locks: [] });
  });

  it("leads by default when the key and the server are in the settings", async () => {
    const t = privateTmux();
    const team = scriptedTeam({ "team-lead": [{ when: /Count the words/, says: "There are three." }] });
    const api = await startFakeMessagesApi(team.script, { key: KEY });
    onTestFinished(() => api.close());
    const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: KEY };
    writeFileSync(join(t.root, "settings.json"), JSON.stringify({ env }));
    const ended = await teamsIn(t.env, t.home)(["run", "--json", "Count the words"]);
    expect(ended.code, ended.err).toBe(0);
    expect(ended.json()).toMatchObject({
      outcome: "completed",
      result: expect.stringMatching(/^There are three/),
    });
  });

  it("fails with MODEL_ERROR and keeps the team when the key is rejected", async () => {
    const { t, run } = await world({}, { key: "sk-ant-another" });
    const ended = await run("--json", "Count the words");
    expect(ended.code).toBe(1);
    expect(ended.out).toBe("");
    const error = JSON.parse(ended.err.trim().split("\n").at(-1) ?? "") as { error: object };
    expect(error.error).toMatchObject({
      code: "MODEL_ERROR",
      message: expect.stringContaining("invalid x-api-key"),
      hint: "To continue: teams run --resume --team crew",
    });
    expect((await teamsIn(t.env, t.home)(["delete", "crew"])).code).toBe(0);
    await leaves(t, nothing());
  });
});
