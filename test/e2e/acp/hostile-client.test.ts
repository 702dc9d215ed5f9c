import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { promptOf } from "../../support/acp/acp-client.ts";
import { playedSession, uses } from "../../support/acp/played-session.ts";
import { eventually } from "../../support/timing/eventually.ts";

const ECHO = () => ({
  "team-lead": [
    { on: { contains: "first" }, say: "One." },
    { on: { contains: "second" }, say: "Two." },
  ],
});

it("teams acp › answers malformed messages, and continues", async () => {
  const { t, c, sessionId } = await playedSession(ECHO);
  const answers = (code: number) =>
    c.traffic.filter((line) => line.startsWith("←") && line.includes(`"code":${code}`)).length;
  c.write("{ not json");
  c.write('[{"jsonrpc":"2.0","id":1,"method":"initialize"}]');
  c.write("null");
  c.write('{"jsonrpc":"2.0","id":99,"method":"session/nothing"}');
  c.write('{"jsonrpc":"2.0","id":98,"method":"session/prompt","params":{"sessionId":7}}');
  c.write('{"jsonrpc":"2.0","method":"session/cancel","params":{}}');
  c.write('{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"other"}}');
  await eventually(
    "all answers",
    () => [-32700, -32601, -32602].every((code) => answers(code) === 1) && answers(-32600) === 2,
  );
  const wrong: readonly [object, string][] = [
    [{ cwd: "relative", mcpServers: [] }, "not the absolute path"],
    [{ cwd: join(t.home, "missing"), mcpServers: [] }, "not the absolute path"],
    [{ cwd: t.home, mcpServers: [{ type: "sse", name: "s", url: "http://x", headers: [] }] }, "SSE"],
  ];
  for (const [params, why] of wrong)
    await expect(c.agent.request("session/new", params as never)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(why),
    });
  for (const id of ["../../etc", "nobody", `x${"y".repeat(10_000)}`])
    await expect(
      c.agent.request("session/load", { sessionId: id, cwd: t.home, mcpServers: [] }),
    ).rejects.toMatchObject({ code: expect.any(Number) });
  await expect(c.agent.request("session/set_mode", { sessionId, modeId: "root" })).rejects.toThrow(
    "not a mode",
  );
  expect(await c.agent.request("session/prompt", promptOf(sessionId, "first"))).toMatchObject({
    stopReason: "end_turn",
  });
});

it("teams acp › answers a client that asks for another protocol version with version 1", async () => {
  const { c, sessionId } = await playedSession(ECHO);
  c.write('{"jsonrpc":"2.0","id":97,"method":"initialize","params":{"protocolVersion":2}}');
  const answer = await eventually("the answer", () =>
    c.traffic.find((line) => line.startsWith("←") && line.includes('"id":97')),
  );
  expect(JSON.parse(answer.slice(2))).toMatchObject({ result: { protocolVersion: 1 } });
  await c.agent.request("session/prompt", promptOf(sessionId, "first"));
  expect(c.said()).toBe("One.");
});

it("teams acp › never sends half of a character: many clients would reject the whole message", async () => {
  const half = "a\ud83d";
  const { c, sessionId } = await playedSession(() => ({
    "team-lead": [
      {
        on: { contains: "Say" },
        say: half,
        tools: [uses("Write", { file_path: `/x${half}`, content: "text" })],
      },
      { say: "Refused." },
    ],
  }));
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Say it"));
  const asked = await c.request();
  expect(asked.params.toolCall.content).toContainEqual(
    expect.objectContaining({ type: "diff", path: "/xa\ufffd" }),
  );
  asked.choose("reject");
  await prompt;
  expect(c.said()).toContain("a\ufffd");
  expect(c.traffic.filter((line) => /\\ud[89a-f]/.test(line))).toEqual([]);
});

it("teams acp › reports unreadable tasks once", async () => {
  const { t, c, sessionId } = await playedSession(() => ({
    "team-lead": [
      { on: { contains: "Plan" }, tools: [uses("TaskCreate", { subject: "first", description: "" })] },
      { say: "Planned." },
    ],
  }));
  await c.agent.request("session/prompt", promptOf(sessionId, "Plan it"));
  writeFileSync(teamRef(teamsHome(t.env), sessionId).paths.task("1"), "{");
  const named = () =>
    c.updates.filter(({ update }) => JSON.stringify(update).includes("#1 cannot be read")).length;
  await eventually("the notice", () => named() === 1);
});

it("teams acp › refuses a prompt of 1 MB, and accepts the next one", async () => {
  const { c, sessionId } = await playedSession(ECHO);
  const long = c.agent.request("session/prompt", promptOf(sessionId, "x".repeat(1_000_000)));
  await expect(long).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining("maximum is 200000"),
  });
  await c.agent.request("session/prompt", promptOf(sessionId, "first"));
  expect(c.said()).toContain("One.");
});

it("teams acp › exits on a message of more than 16 MB, and says that the connection failed", async () => {
  const { c, sessionId } = await playedSession(ECHO);
  await c.agent.request("session/prompt", promptOf(sessionId, "first"));
  c.write("x".repeat(17 * 1024 * 1024));
  expect(await c.exited).toBe(1);
  expect(c.stderr()).toContain("The connection to the client failed");
});

it("teams acp › leads two sessions at once", async () => {
  const { t, c, sessionId } = await playedSession(ECHO);
  const other = await c.agent.request("session/new", { cwd: t.home, mcpServers: [] });
  expect(other.sessionId).not.toBe(sessionId);
  const answers = await Promise.all([
    c.agent.request("session/prompt", promptOf(sessionId, "first")),
    c.agent.request("session/prompt", promptOf(other.sessionId, "second")),
  ]);
  expect(answers).toMatchObject([{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
  expect(c.said(sessionId)).toBe("One.");
  expect(c.said(other.sessionId)).toBe("Two.");
  await c.agent.request("session/close", { sessionId });
  await c.agent.request("session/prompt", promptOf(other.sessionId, "again"));
});

it("teams acp › ignores the settings of an untrusted directory, and says so", async () => {
  const { t, c } = await playedSession(ECHO);
  const { mkdirSync } = await import("node:fs");
  const project = join(t.home, "project");
  mkdirSync(join(project, ".claude"), { recursive: true });
  const settings = { permissions: { allow: ["Bash(rm:*)"] } };
  writeFileSync(join(project, ".claude", "settings.json"), JSON.stringify(settings));
  await c.agent.request("session/new", { cwd: project, mcpServers: [] });
  await eventually("the note", () => c.said().includes("teams trust"));
});

it("teams acp › writes only protocol messages to stdout", async () => {
  const { c, sessionId } = await playedSession(ECHO);
  await c.agent.request("session/prompt", promptOf(sessionId, "first"));
  c.child.stdin?.end();
  await c.exited;
  const lines = c.traffic.filter((line) => line.startsWith("←"));
  expect(lines.length).toBeGreaterThan(4);
  for (const line of lines) expect(JSON.parse(line.slice(2))).toMatchObject({ jsonrpc: "2.0" });
});
