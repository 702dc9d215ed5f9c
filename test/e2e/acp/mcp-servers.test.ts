import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { promptOf } from "../../support/acp/acp-client.ts";
import { playedSession, uses } from "../../support/acp/played-session.ts";
import { scriptFile } from "../../support/processes/script-process.ts";

const server = scriptFile("mcp/server");

it("teams acp › gives the lead its client's MCP servers, without expanding variables in their settings", async () => {
  const { t, c } = await playedSession(() => ({
    "team-lead": [
      { on: { contains: "Greet" }, tools: [uses("mcp__near__greet", { name: "Ada" })] },
      { say: "Greeted." },
    ],
  }));
  const log = join(t.home, "server.log");
  const reference = `\${HOME}`;
  const near: McpServer = {
    name: "near",
    command: process.execPath,
    args: [server(), log],
    env: [{ name: "GREETING", value: reference }],
  };
  const { sessionId } = await c.agent.request("session/new", { cwd: t.home, mcpServers: [near] });
  const prompt = c.agent.request("session/prompt", promptOf(sessionId, "Greet her"));
  (await c.request()).choose("allow");
  expect(await prompt).toMatchObject({ stopReason: "end_turn" });
  const { content } = await c.update("tool_call_update", ({ status }) => status === "completed");
  expect(content).toEqual([{ type: "content", content: { type: "text", text: "Hello Ada." } }]);
  expect(readFileSync(log, "utf8")).toContain(` ${reference} `);
});
