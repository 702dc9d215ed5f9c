import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { acpClient, promptOf } from "../../support/acp/acp-client.ts";
import { fileTeam } from "../../support/acp/file-team.ts";
import { playedSession, uses } from "../../support/acp/played-session.ts";
import { kindsOf, readTranscript, recordTranscript } from "../../support/acp/transcript.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

it("teams acp › plays a whole team: plan, calls of a teammate, permission, usage, list, mode and close", async () => {
  const { t, c, sessionId } = await playedSession(fileTeam, { words: ["--teammate-mode", "tmux"] });
  const made = join(t.home, "made.txt");
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Make the file"));
  const asked = await c.request();
  expect(asked.params).toMatchObject({
    sessionId,
    toolCall: {
      title: expect.stringMatching(/^ada: .*made\.txt/),
      name: "Write",
      kind: "edit",
      locations: [{ path: made }],
      content: [{ type: "diff", path: made, oldText: null, newText: "made\n" }, expect.anything()],
    },
    options: expect.arrayContaining([expect.objectContaining({ optionId: "allow", kind: "allow_once" })]),
  });
  asked.choose("allow");
  const answer = await prompt;
  expect(answer).toMatchObject({ stopReason: "end_turn", _meta: { usage: { inputTokens: 1000 } } });
  expect(readFileSync(made, "utf8")).toBe("made\n");
  expect(c.said()).toContain("One teammate is enough.");
  expect(c.said()).toContain("The file is made.");
  // The client got the call of the teammate, the plan and the usage as updates.
  const call = await c.update(
    "tool_call",
    ({ name, title }) => name === "Write" && title.startsWith("ada: "),
  );
  expect(call.toolCallId).toBe(asked.params.toolCall.toolCallId);
  await c.update(
    "tool_call_update",
    (one) => one.toolCallId === call.toolCallId && one.status === "completed",
  );
  await c.update("plan", ({ entries }) => entries[0]?.status === "in_progress");
  await c.update("plan", ({ entries }) => entries[0]?.content === "#1 make the file (ada)");
  await c.update("usage_update", ({ used }) => used === 1020);
  await c.update("session_info_update", ({ title }) => title === "Make the file");

  expect(await c.agent.request("session/list", {})).toMatchObject({
    sessions: [{ sessionId, cwd: t.home, title: "Make the file" }],
  });
  await c.agent.request("session/set_mode", { sessionId, modeId: "acceptEdits" });
  await c.update("current_mode_update", ({ currentModeId }) => currentModeId === "acceptEdits");
  const teams = teamsIn(t.env, t.home);
  const status = (await teams(["status", "--json"])).json<{ members: { paneId: string | null }[] }>();
  expect(status).toMatchObject({
    team: sessionId,
    leadAlive: true,
    members: [{ mode: "acceptEdits" }, { name: "ada", alive: true, backend: "tmux" }],
  });
  const panes = t.tmux("list-panes", "-a", "-F", "#{pane_id}").split("\n");
  expect(panes).toContain(status.members[1]?.paneId);
  await c.agent.request("session/close", { sessionId });
  expect((await teams(["status", "--json"])).json()).toMatchObject({
    leadAlive: false,
    members: [expect.anything(), { name: "ada", alive: false }],
  });
  await expect(c.agent.request("session/prompt", promptOf(sessionId, "More"))).rejects.toThrow(
    "not open here",
  );
  expect(c.stderr()).toBe("");
  recordTranscript("sdk-client.txt", c.traffic, t);
  expect(kindsOf(c.traffic)).toEqual(kindsOf(readTranscript("sdk-client.txt")));
});

it("teams acp --agent › runs a single agent without team tools", async () => {
  const { t, c, sessionId } = await playedSession(
    () => ({
      "team-lead": [
        {
          on: { contains: "Start ada" },
          tools: [uses("Agent", { name: "ada", prompt: "Begin.", description: "begins" })],
        },
        { say: "I am alone." },
      ],
    }),
    { words: ["--agent"] },
  );
  await c.agent.request("session/prompt", promptOf(sessionId, "Start ada"));
  expect(c.said()).toContain("I am alone.");
  await c.update("tool_call_update", ({ status }) => status === "failed");
  const { members } = (await teamsIn(t.env, t.home)(["status", "--json"])).json<{ members: object[] }>();
  expect(members).toHaveLength(1);
});

it("teams acp › refuses a session without a model", async () => {
  const t = privateTmux();
  const { ANTHROPIC_API_KEY: _key, ANTHROPIC_AUTH_TOKEN: _token, ANTHROPIC_BASE_URL: _url, ...env } = t.env;
  const c = await acpClient({ env, cwd: t.home });
  await expect(c.agent.request("session/new", { cwd: t.home, mcpServers: [] })).rejects.toMatchObject({
    code: -32000,
    message: expect.stringContaining("No model is set up"),
  });
  c.child.stdin?.end();
  expect(await c.exited).toBe(0);
  expect((await teamsIn(t.env, t.home)(["ls", "--json"])).json()).toEqual({ teams: [] });
});

it("teams acp › finds a playbook from the directory of its process, even for a session elsewhere", async () => {
  const t = privateTmux();
  const play = { version: 1, agents: { "team-lead": [{ say: "From the playbook." }] } };
  writeFileSync(join(t.home, "play.json"), JSON.stringify(play));
  const cwd = join(t.home, "project");
  mkdirSync(cwd);
  const c = await acpClient({ env: t.env, cwd: t.home, words: ["--model", "scripted:play.json"] });
  const { sessionId } = await c.agent.request("session/new", { cwd, mcpServers: [] });
  await c.agent.request("session/prompt", promptOf(sessionId, "Hello"));
  expect(c.said()).toContain("From the playbook.");
});

it("teams acp › reports an invalid model name as such, not as a missing login", async () => {
  const t = privateTmux();
  const c = await acpClient({ env: t.env, cwd: t.home, words: ["--model", "no such model"] });
  await expect(c.agent.request("session/new", { cwd: t.home, mcpServers: [] })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('"no such model" is not a valid model name'),
  });
});

it("teams acp › answers a prompt with “authentication required” if the model rejects the key, and continues", async () => {
  const { c, sessionId } = await playedSession(() => ({
    "team-lead": [
      { on: { contains: "First" }, error: { status: 401, type: "authentication_error" } },
      { on: { contains: "Second" }, error: { status: 400, type: "invalid_request_error" } },
      { on: { contains: "Third" }, say: "The key is right now." },
    ],
  }));
  await expect(c.agent.request("session/prompt", promptOf(sessionId, "First"))).rejects.toMatchObject({
    code: -32000,
    message: expect.stringMatching(/401.*start it again/s),
    data: { code: "MODEL_ERROR", hint: expect.any(String) },
  });
  await expect(c.agent.request("session/prompt", promptOf(sessionId, "Second"))).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining("400"),
  });
  await c.agent.request("session/prompt", promptOf(sessionId, "Third"));
  expect(c.said()).toContain("The key is right now.");
});
