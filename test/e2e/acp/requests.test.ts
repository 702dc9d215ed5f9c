import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { promptOf } from "../../support/acp/acp-client.ts";
import { fileTeam } from "../../support/acp/file-team.ts";
import { playedSession, uses } from "../../support/acp/played-session.ts";
import { doneIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { userAt } from "../../support/tmux/terminal-user.ts";

it("teams acp › withdraws a request that teams approve answers first", async () => {
  const { t, c, sessionId } = await playedSession((home) => ({
    "team-lead": [
      {
        on: { contains: "Make it" },
        tools: [uses("Write", { file_path: join(home, "made.txt"), content: "made\n" })],
      },
      { say: "Made." },
    ],
  }));
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Make it"));
  const asked = await c.request();
  expect(asked.params.toolCall).toMatchObject({ title: expect.not.stringContaining("team-lead") });
  await doneIn(t.env, t.home)("approve", "team-lead");
  await eventually("the end of the request", () => asked.signal.aborted);
  expect(await prompt).toMatchObject({ stopReason: "end_turn" });
  expect(c.said()).toContain("Made.");
  expect(c.said()).not.toContain("still open");
  // A late answer has no effect.
  asked.choose("reject");
  expect(c.asked).toHaveLength(1);
});

it("teams acp › withdraws a request that a key in the teammate's pane answers first", async () => {
  const { t, c, sessionId } = await playedSession(fileTeam, { words: ["--teammate-mode", "tmux"] });
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Make the file"));
  const asked = await c.request();
  const { members } = (await doneIn(t.env, t.home)("status", "--json")).json<{
    members: { name: string; paneId: string | null }[];
  }>();
  const ada = userAt(t, members.find(({ name }) => name === "ada")?.paneId ?? "");
  await ada.sees("y yes · n no");
  ada.type("y");
  await eventually("the end of the request", () => asked.signal.aborted);
  expect(await prompt).toMatchObject({ stopReason: "end_turn" });
  expect(c.said()).toContain("The file is made.");
  expect(c.said()).not.toContain("still open");
  expect(readFileSync(join(t.home, "made.txt"), "utf8")).toBe("made\n");
  expect(c.asked).toHaveLength(1);
});

it("teams acp › offers a dismissed request again with the next prompt", async () => {
  const { c, sessionId } = await playedSession((home) => ({
    "team-lead": [
      {
        on: { contains: "Make it" },
        tools: [uses("Write", { file_path: join(home, "made.txt"), content: "made\n" })],
      },
      { say: "Made." },
    ],
  }));
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Make it"));
  const first = await c.request();
  await first.dismiss();
  const second = c.agent.request("session/prompt", promptOf(sessionId, "Well?"));
  const again = await c.request();
  expect(again.params.toolCall.toolCallId).toBe(first.params.toolCall.toolCallId);
  again.choose("reject");
  expect(await Promise.all([prompt, second])).toMatchObject([
    { stopReason: "end_turn" },
    { stopReason: "end_turn" },
  ]);
});

it("teams acp › carries the plan of a teammate, and the user's approval", async () => {
  const { c, sessionId } = await playedSession(
    () => ({
      "team-lead": [
        {
          on: { contains: "Plan it" },
          tools: [uses("Agent", { name: "ada", prompt: "Plan first.", plan_mode_required: true })],
        },
        { on: { contains: "I did it" }, say: "It is done." },
      ],
      ada: [
        { on: { contains: "Plan first" }, tools: [uses("ExitPlanMode", { plan: "# Do it\n\n1. Do it." })] },
        {
          on: { contains: "pprove" },
          tools: [uses("SendMessage", { recipient: "team-lead", content: "I did it.", summary: "done" })],
        },
      ],
    }),
    { words: ["--teammate-mode", "in-process"] },
  );
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Plan it"));
  const asked = await c.request();
  expect(asked.params).toMatchObject({
    toolCall: {
      kind: "switch_mode",
      title: expect.stringContaining("ada: plan: "),
      content: [{ content: { text: expect.stringContaining("1. Do it.") } }],
    },
  });
  asked.choose("approve");
  expect(await prompt).toMatchObject({ stopReason: "end_turn" });
  expect(c.said()).toContain("It is done.");
});

it("teams acp › offers the choices of a question, and a form for a free-text answer", async () => {
  const { c, sessionId } = await playedSession(
    () => ({
      "team-lead": [
        {
          on: { contains: "Ask me" },
          tools: [uses("AskUserQuestion", { question: "Which port?", choices: ["8080", "9090"] })],
        },
        { on: { tool: "AskUserQuestion" }, say: "Waiting." },
        { on: { contains: "9090" }, tools: [uses("AskUserQuestion", { question: "Which host?" })] },
        { on: { contains: "localhost" }, say: "Both are known." },
      ],
    }),
    { capabilities: { elicitation: { form: {} } } },
  );
  c.onForm = ({ message }) => {
    expect(message).toBe("Which host?");
    return { action: "accept", content: { answer: "localhost" } };
  };
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Ask me"));
  const asked = await c.request();
  expect(asked.params.options.map(({ name }) => name)).toEqual(["8080", "9090"]);
  asked.choose("choice-2");
  expect(await prompt).toMatchObject({ stopReason: "end_turn" });
  expect(c.said()).toContain("Both are known.");
});

it("teams acp › carries the question of a teammate, and the user's choice", async () => {
  const { c, sessionId } = await playedSession(
    () => ({
      "team-lead": [
        {
          on: { contains: "Ask me" },
          tools: [uses("Agent", { name: "ada", prompt: "Begin.", description: "asks" })],
        },
        { on: { contains: "It is 9090" }, say: "The port is known." },
      ],
      ada: [
        {
          on: { contains: "Begin" },
          tools: [uses("AskUserQuestion", { question: "Which port?", choices: ["8080", "9090"] })],
        },
        { on: { tool: "AskUserQuestion" }, say: "Waiting." },
        {
          on: { contains: "9090" },
          tools: [uses("SendMessage", { recipient: "team-lead", content: "It is 9090.", summary: "port" })],
        },
      ],
    }),
    { words: ["--teammate-mode", "in-process"] },
  );
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Ask me"));
  const asked = await c.request();
  expect(asked.params).toMatchObject({
    toolCall: { title: expect.stringMatching(/^ada asks: Which port\?/) },
    options: [{ name: "8080" }, { name: "9090" }],
  });
  asked.choose("choice-2");
  expect(await prompt).toMatchObject({ stopReason: "end_turn" });
  expect(c.said()).toContain("The port is known.");
});

it("teams acp › rejects an option that it did not offer, and keeps the request open", async () => {
  const { t, c, sessionId } = await playedSession((home) => ({
    "team-lead": [
      {
        on: { contains: "Make it" },
        tools: [uses("Write", { file_path: join(home, "made.txt"), content: "made\n" })],
      },
      { say: "Made." },
    ],
  }));
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Make it"));
  (await c.request()).choose("allow-everything");
  await c.update("agent_message_chunk", ({ content }) => JSON.stringify(content).includes("is still open"));
  await doneIn(t.env, t.home)("reject", "team-lead");
  expect(await prompt).toMatchObject({ stopReason: "end_turn" });
});
