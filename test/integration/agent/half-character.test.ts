import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAgent, type TurnInput } from "../../../src/agent/agent.ts";
import { openTranscript } from "../../../src/agent/conversation/transcript.ts";
import { mcpTool } from "../../../src/agent/mcp/mcp-tool.ts";
import { anthropicModel } from "../../../src/agent/model/anthropic.ts";
import { NO_RULES } from "../../../src/agent/permissions/rules.ts";
import { builtinTools } from "../../../src/agent/tools/builtin-tools.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { callsOnce, startFakeMessagesApi, toolUse } from "../../support/model/fake-messages-api.ts";

const NEVER = new AbortController().signal;
const HALF = "\ud83d";

function input(text: string): TurnInput {
  return { text, origin: { text, from: "team-lead" }, keys: [] };
}

/** An agent whose MCP tool is called once, and whose conversation is in a file. */
async function agentOf(answer: string, call: object = {}) {
  const cwd = realpathSync(temporaryDirectory());
  const api = await startFakeMessagesApi(callsOnce([toolUse("t1", "mcp__s__t", call)]));
  onTestFinished(() => api.close());
  const path = join(cwd, "s1.jsonl");
  const received: unknown[] = [];
  const tool = mcpTool("s", { name: "t", inputSchema: { type: "object" } }, async (_, given) => {
    received.push(given);
    return { content: [{ type: "text", text: answer }] };
  });
  const create = () =>
    createAgent({
      model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }),
      tools: [...builtinTools(), tool],
      system: "You are ada.",
      transcript: openTranscript(path, { sessionId: "s1", secrets: [] }),
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd },
      permissions: {
        mode: () => "bypassPermissions",
        rules: NO_RULES,
        workingDirs: [cwd],
        ask: async () => ({ allowed: false }),
      },
      onEvent: () => undefined,
    });
  return { api, path, create, received };
}

const lastResult = (body: { messages: { content: { type: string; content: string }[] }[] }) =>
  body.messages.flatMap(({ content }) => content).find(({ type }) => type === "tool_result")?.content;

describe("a lone surrogate", () => {
  test("from a foreign tool is replaced before the server gets it, and the conversation continues", async () => {
    const { api, create } = await agentOf(`a${HALF}b`);
    expect(await create().run(input("go"), NEVER)).toMatchObject({ outcome: "completed", text: "Done." });
    expect(lastResult(api.requests.at(-1)?.body)).toBe("a\ufffdb");
  });

  test("in a saved conversation does not stop it", async () => {
    const { path, create } = await agentOf("a-half-b");
    await create().run(input("go"), NEVER);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("a-half-b", "a\\ud83db"));
    expect(await create().run(input("again"), NEVER)).toMatchObject({ outcome: "completed", text: "Done." });
  });

  test("in a message, in a call of the model or in a key of its input is replaced", async () => {
    const { api, create, received } = await agentOf("fine", { [`k${HALF}`]: [`v${HALF}`] });
    const turn = await create().run(input(`Say ${HALF}.`), NEVER);
    expect(turn).toMatchObject({ outcome: "completed", text: "Done." });
    expect(received).toEqual([{ "k\ufffd": ["v\ufffd"] }]);
    expect(JSON.stringify(api.requests.at(-1)?.body)).toContain("Say \ufffd.");
  });
});
