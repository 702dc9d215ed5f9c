import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { livenessOfAgent } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { promptOf } from "../../support/acp/acp-client.ts";
import { playedSession, uses, waitsFor } from "../../support/acp/played-session.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";

const BYPASS = ["--permission-mode", "bypassPermissions"];

/** Opens a session whose lead runs an endless command when it reads "Wait for it", and answers other prompts. */
const waitingSession = () =>
  playedSession(
    (home) => ({
      "team-lead": [
        { on: { contains: "Wait for it" }, tools: [waitsFor(join(home, "begun"), join(home, "never"))] },
        { on: { contains: "Never read" }, say: "It was read." },
        { on: { contains: "Go on" }, say: "Here again." },
      ],
    }),
    { words: BYPASS },
  );

it("teams acp › cancels a running tool call, drops a waiting prompt, and accepts the next one", async () => {
  const { t, c, sessionId } = await waitingSession();
  const first = c.agent.request("session/prompt", promptOf(sessionId, "Wait for it"));
  const call = await c.update("tool_call", ({ name }) => name === "Bash");
  await eventually("the command", () => existsSync(join(t.home, "begun")));
  const second = c.agent.request("session/prompt", promptOf(sessionId, "Never read"));
  await c.agent.notify("session/cancel", { sessionId });
  expect(await Promise.all([first, second])).toMatchObject([
    { stopReason: "cancelled" },
    { stopReason: "cancelled" },
  ]);
  await c.update("tool_call_update", (one) => one.toolCallId === call.toolCallId && one.status === "failed");
  const third = c.agent.request("session/prompt", promptOf(sessionId, "Go on"));
  expect(await third).toMatchObject({ stopReason: "end_turn" });
  expect(c.said()).toContain("Here again.");
  expect(c.said()).not.toContain("It was read.");
});

it("teams acp › cancels the open prompt of a session that its client closes", async () => {
  const { t, c, sessionId } = await waitingSession();
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Wait for it"));
  await eventually("the command", () => existsSync(join(t.home, "begun")));
  const [answer] = await Promise.all([prompt, c.agent.request("session/close", { sessionId })]);
  expect(answer).toMatchObject({ stopReason: "cancelled" });
});

it("teams acp › never reads a prompt that waited when its session was closed", async () => {
  const { t, c, sessionId } = await waitingSession();
  const first = c.agent.request("session/prompt", promptOf(sessionId, "Wait for it"));
  await eventually("the command", () => existsSync(join(t.home, "begun")));
  const second = c.agent.request("session/prompt", promptOf(sessionId, "Never read"));
  await c.agent.request("session/close", { sessionId });
  expect(await Promise.all([first, second])).toMatchObject([
    { stopReason: "cancelled" },
    { stopReason: "cancelled" },
  ]);
  await c.agent.request("session/load", { sessionId, cwd: t.home, mcpServers: [] });
  expect(await c.agent.request("session/prompt", promptOf(sessionId, "Go on"))).toMatchObject({
    stopReason: "end_turn",
  });
  expect(c.said()).toContain("Here again.");
  expect(c.said()).not.toContain("It was read.");
});

it("teams acp › steers a running turn: the lead reads the second prompt after its current call", async () => {
  const { t, c, sessionId } = await playedSession(
    (home) => ({
      "team-lead": [
        { on: { contains: "Begin" }, tools: [waitsFor(join(home, "begun"), join(home, "go"))] },
        { on: { contains: "Rather stop" }, say: "I stop." },
        { on: { tool: "Bash" }, say: "I continued." },
      ],
    }),
    { words: [...BYPASS, "--debug"] },
  );
  const first = c.agent.request("session/prompt", promptOf(sessionId, "Begin"));
  await eventually("the command", () => existsSync(join(t.home, "begun")));
  const second = c.agent.request("session/prompt", promptOf(sessionId, "Rather stop"));
  const log = join(t.root, "debug", "latest");
  await eventually("the line in the lead's queue", () =>
    readFileSync(log, "utf8").includes("queued: a message from you"),
  );
  writeFileSync(join(t.home, "go"), "");
  expect(await Promise.all([first, second])).toMatchObject([
    { stopReason: "end_turn" },
    { stopReason: "end_turn" },
  ]);
  expect(c.said()).toContain("I stop.");
  expect(c.said()).not.toContain("I continued.");
});

it("teams acp › keeps the team of a client that vanishes, and replays its conversation on session/load", async () => {
  const { t, c, sessionId, again } = await playedSession(
    (home) => ({
      "team-lead": [
        {
          on: { contains: "Start ada" },
          say: "She starts.",
          tools: [uses("Agent", { name: "ada", prompt: "Begin.", description: "begins" })],
        },
        { on: { contains: "Go on" }, say: "Here again." },
      ],
      ada: [{ on: { contains: "Begin." }, tools: [waitsFor(join(home, "begun"), join(home, "go"))] }],
    }),
    { words: [...BYPASS, "--teammate-mode", "tmux"] },
  );
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Start ada")).catch(() => undefined);
  await eventually("ada's command", () => existsSync(join(t.home, "begun")));
  c.child.stdin?.end();
  expect(await c.exited).toBe(0);
  await prompt;
  const ref = teamRef(teamsHome(t.env), sessionId);
  expect(livenessOfAgent(ref, "ada")).toBe("dead");

  const next = await again();
  const params = { sessionId, cwd: t.home, mcpServers: [] };
  const loaded = await next.agent.request("session/load", params);
  expect(loaded).toMatchObject({ modes: { currentModeId: "bypassPermissions" } });
  const shown = next.updates.map(({ update }) => update);
  expect(shown[0]).toMatchObject({ sessionUpdate: "user_message_chunk", content: { text: "Start ada" } });
  expect(shown).toContainEqual(expect.objectContaining({ sessionUpdate: "tool_call", name: "Agent" }));
  expect(next.said()).toContain("She starts.");
  await expect(next.agent.request("session/load", params)).rejects.toThrow("already open in this process");
  await eventually("ada's new process", () => livenessOfAgent(ref, "ada") === "alive");
  writeFileSync(join(t.home, "go"), "");
  expect(await next.agent.request("session/prompt", promptOf(sessionId, "Go on"))).toMatchObject({
    stopReason: "end_turn",
  });
  expect(next.said()).toContain("Here again.");
});

it.each(["load", "resume"] as const)(
  "teams acp › %s continues after SIGKILL: the teammate kept running, and so does the lead's turn",
  async (how) => {
    const { t, c, sessionId, again } = await playedSession(
      (home) => ({
        "team-lead": [
          {
            on: { contains: "Start ada" },
            tools: [uses("Agent", { name: "ada", prompt: "Begin.", description: "begins" })],
          },
          { on: { tool: "Agent" }, tools: [waitsFor(join(home, "leads"), join(home, "go"))] },
          { on: { tool: "Bash" }, say: "The turn continued." },
        ],
        ada: [{ on: { contains: "Begin." }, tools: [waitsFor(join(home, "begun"), join(home, "go"))] }],
      }),
      { words: [...BYPASS, "--teammate-mode", "tmux"] },
    );
    void c.agent.request("session/prompt", promptOf(sessionId, "Start ada")).catch(() => undefined);
    await eventually("both calls", () => ["leads", "begun"].every((file) => existsSync(join(t.home, file))));
    const ref = teamRef(teamsHome(t.env), sessionId);
    c.child.kill("SIGKILL");
    await c.exited;
    expect(livenessOfAgent(ref, "ada")).toBe("alive");

    const next = await again();
    expect(await next.agent.request("session/list", { cwd: t.home })).toMatchObject({
      sessions: [{ sessionId }],
    });
    const params = { sessionId, cwd: t.home, mcpServers: [] };
    if (how === "load") await next.agent.request("session/load", params);
    else await next.agent.request("session/resume", params);
    const isReplayed = next.updates.some(({ update }) => update.sessionUpdate === "user_message_chunk");
    expect(isReplayed).toBe(how === "load");
    writeFileSync(join(t.home, "go"), "");
    await eventually("the end of the lead's turn", () => next.said().includes("The turn continued."));
    expect(livenessOfAgent(ref, "ada")).toBe("alive");
  },
);

it("teams acp › deletes the team of a session that got no prompt", async () => {
  const { t, c } = await playedSession(() => ({ "team-lead": [{ say: "Nothing." }] }));
  c.child.stdin?.end();
  expect(await c.exited).toBe(0);
  expect((await teamsIn(t.env, t.home)(["ls", "--json"])).json()).toEqual({ teams: [] });
});
