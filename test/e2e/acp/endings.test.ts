import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { promptOf } from "../../support/acp/acp-client.ts";
import { playedSession, uses } from "../../support/acp/played-session.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";

const TALK = () => ({
  "team-lead": [
    {
      on: { contains: "Plan it" },
      tools: [uses("TaskCreate", { subject: "make the file", description: "d" })],
    },
    { on: { tool: "TaskCreate" }, say: "Planned." },
    { on: { contains: "Do it" }, tools: [uses("TaskUpdate", { taskId: "1", status: "completed" })] },
    { on: { tool: "TaskUpdate" }, say: "Done." },
  ],
});

it("teams acp › deletes a session only if its work is finished", async () => {
  const { t, c, sessionId } = await playedSession(TALK);
  const listed = async () =>
    (await teamsIn(t.env, t.home)(["ls", "--json"])).json<{ teams: object[] }>().teams;
  await c.agent.request("session/prompt", promptOf(sessionId, "Plan it"));
  await expect(c.agent.request("session/delete", { sessionId })).rejects.toMatchObject({
    code: -32600,
    message: expect.stringMatching(/1 open task.*teams delete --force /s),
  });
  // The session is still open.
  await c.agent.request("session/prompt", promptOf(sessionId, "Do it"));
  expect(await listed()).toMatchObject([{ name: sessionId }]);
  await c.agent.request("session/delete", { sessionId });
  expect(await listed()).toEqual([]);
  expect(await c.agent.request("session/list", {})).toEqual({ sessions: [] });
  await expect(c.agent.request("session/prompt", promptOf(sessionId, "More"))).rejects.toThrow(
    "not open here",
  );
});

it("teams acp › deletes a session that is closed, but not one that another process leads", async () => {
  const { t, c, sessionId, again } = await playedSession(TALK);
  await c.agent.request("session/prompt", promptOf(sessionId, "Hello"));
  const other = await again();
  await expect(other.agent.request("session/delete", { sessionId })).rejects.toThrow("another process");
  await c.agent.request("session/close", { sessionId });
  await other.agent.request("session/delete", { sessionId });
  expect((await teamsIn(t.env, t.home)(["ls", "--json"])).json()).toEqual({ teams: [] });
});

it("teams acp › loads a session again after it was closed", async () => {
  const { t, c, sessionId } = await playedSession(TALK);
  await c.agent.request("session/prompt", promptOf(sessionId, "Plan it"));
  await c.agent.request("session/close", { sessionId });
  await c.agent.request("session/load", { sessionId, cwd: t.home, mcpServers: [] });
  expect(await c.agent.request("session/prompt", promptOf(sessionId, "Do it"))).toMatchObject({
    stopReason: "end_turn",
  });
  expect(c.said()).toContain("Done.");
});

it("teams acp › loads a session after a failed load", async () => {
  const { t, c, sessionId } = await playedSession(TALK);
  await c.agent.request("session/prompt", promptOf(sessionId, "Plan it"));
  await c.agent.request("session/close", { sessionId });
  const load = { sessionId, cwd: t.home, mcpServers: [] };
  // A file blocks the directory that the lead needs for its bell.
  const { runtime } = teamRef(teamsHome(t.env), sessionId).paths.agent(LEAD_NAME);
  mkdirSync(dirname(runtime), { recursive: true, mode: 0o700 });
  writeFileSync(runtime, "");
  await expect(c.agent.request("session/load", load)).rejects.toMatchObject({ code: expect.any(Number) });
  rmSync(runtime);
  await c.agent.request("session/load", load);
  expect(await c.agent.request("session/prompt", promptOf(sessionId, "Do it"))).toMatchObject({
    stopReason: "end_turn",
  });
});

it("teams acp › keeps a team whose only prompt was cancelled", async () => {
  const { t, c, sessionId } = await playedSession(TALK);
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Plan it"));
  await c.agent.notify("session/cancel", { sessionId });
  // The turn may end before the cancellation arrives.
  expect(await prompt).toMatchObject({ stopReason: expect.stringMatching(/^(cancelled|end_turn)$/) });
  c.child.stdin?.end();
  expect(await c.exited).toBe(0);
  expect((await teamsIn(t.env, t.home)(["ls", "--json"])).json()).toMatchObject({
    teams: [{ name: sessionId }],
  });
});

it("teams acp › leaves nothing of a session whose client disconnects while the session opens", async () => {
  const { t, c } = await playedSession(TALK);
  const opening = c.agent.request("session/new", { cwd: t.home, mcpServers: [] });
  const isSent = (): boolean => c.traffic.filter((line) => line.includes('"session/new"')).length === 2;
  await eventually("the request", isSent);
  c.child.stdin?.end();
  await expect(opening).rejects.toThrow();
  expect(await c.exited).toBe(0);
  expect((await teamsIn(t.env, t.home)(["ls", "--json"])).json()).toEqual({ teams: [] });
});

it("teams acp › deletes the empty sessions of killed processes when a new session is created", async () => {
  const { t, c, again } = await playedSession(TALK);
  c.child.kill("SIGKILL");
  await c.exited;
  const next = await again();
  expect(await next.agent.request("session/list", {})).toEqual({ sessions: [] });
  const { sessionId } = await next.agent.request("session/new", { cwd: t.home, mcpServers: [] });
  expect((await teamsIn(t.env, t.home)(["ls", "--json"])).json()).toMatchObject({
    teams: [{ name: sessionId }],
  });
});

it("teams acp › loads a session that ended without a prompt", async () => {
  const { t, c, sessionId, again } = await playedSession(TALK);
  c.child.stdin?.end();
  expect(await c.exited).toBe(0);
  expect((await teamsIn(t.env, t.home)(["ls", "--json"])).json()).toEqual({ teams: [] });
  const next = await again();
  const load = { sessionId, cwd: t.home, mcpServers: [] };
  await next.agent.request("session/load", load);
  await next.agent.request("session/prompt", promptOf(sessionId, "Plan it"));
  expect(next.said()).toContain("Planned.");
  await next.agent.request("session/prompt", promptOf(sessionId, "Do it"));
  await next.agent.request("session/delete", { sessionId });
  await expect(next.agent.request("session/load", load)).rejects.toMatchObject({ code: -32002 });
});
