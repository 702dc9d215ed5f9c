import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAgent, type TurnInput } from "../../../src/agent/agent.ts";
import { openTranscript } from "../../../src/agent/conversation/transcript.ts";
import { Hooks } from "../../../src/agent/hooks/hooks.ts";
import { hooksSetting } from "../../../src/agent/hooks/settings.ts";
import { mcpTool } from "../../../src/agent/mcp/mcp-tool.ts";
import { anthropicModel } from "../../../src/agent/model/anthropic.ts";
import type { Model } from "../../../src/agent/model/model.ts";
import { NO_RULES } from "../../../src/agent/permissions/rules.ts";
import { scriptedModel } from "../../../src/agent/playbook/scripted-model.ts";
import { builtinTools } from "../../../src/agent/tools/builtin-tools.ts";
import type { AgentPermissions } from "../../../src/agent/turn/permission.ts";
import { parsePlaybook } from "../../../src/schema/playbook.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import {
  callsOnce,
  type FakeMessagesApi,
  startFakeMessagesApi,
} from "../../support/model/fake-messages-api.ts";

const DEPTHS = [2_000, 100_000] as const;
const NEVER = new AbortController().signal;

/** Returns JSON of this many levels, with fields before it. */
function nested(levels: number, fields: object = {}): string {
  const start = JSON.stringify(fields).slice(0, -1);
  const comma = start === "{" ? "" : ",";
  return `${start}${comma}"deep":${'{"a":['.repeat(levels / 2)}1${"]}".repeat(levels / 2)}}`;
}

function input(text: string): TurnInput {
  return { text, origin: { text, from: "team-lead" }, keys: [] };
}

interface Given {
  readonly hook?: string;
  readonly ask?: AgentPermissions["ask"];
  readonly rules?: AgentPermissions["rules"];
  /** Answer of the MCP server. */
  readonly answer?: unknown;
}

/** Creates an agent with the built-in tools and an MCP tool, which records whether it ran. */
function agentWith(model: Model, { hook, ask, rules = NO_RULES, answer = {} }: Given = {}) {
  const cwd = realpathSync(temporaryDirectory());
  const env = { PATH: process.env.PATH, HOME: cwd, SOME_API_KEY: "sk-very-secret-value" };
  const path = join(cwd, "s1.jsonl");
  let isCalled = false;
  const served = mcpTool("s", { name: "t", inputSchema: { type: "object" } }, async () => {
    isCalled = true;
    return answer;
  });
  const command = { type: "command", command: hook ?? "" };
  const setting = hooksSetting.parse({ PreToolUse: hook === undefined ? [] : [{ hooks: [command] }] });
  const permissions: AgentPermissions = {
    mode: () => (ask === undefined ? "bypassPermissions" : "default"),
    rules,
    workingDirs: [cwd],
    ask: ask ?? (async () => ({ allowed: false })),
  };
  const create = () =>
    createAgent({
      model,
      tools: [...builtinTools(), served],
      system: "You are ada.",
      transcript: openTranscript(path, { sessionId: "s1", secrets: [env.SOME_API_KEY] }),
      cwd,
      env,
      permissions,
      hooks: new Hooks({ setting, sessionId: "s1", cwd, env, onNotice: () => undefined }),
      onEvent: () => undefined,
    });
  return { agent: create(), cwd, create, wasCalled: () => isCalled };
}

/** Returns a model that makes calls with inputs that are given as JSON, and then says that it is done. */
async function calls(...uses: readonly (readonly [name: string, json: string])[]) {
  const blocks = uses.map(
    ([name, json], i) => ({ type: "tool_use", id: `toolu_${i}`, name, input: {}, json }) as const,
  );
  const api = await startFakeMessagesApi(callsOnce(blocks));
  onTestFinished(() => api.close());
  return { api, model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }) };
}

/** Returns the results that the second request sends. */
function resultsIn({ requests }: FakeMessagesApi): readonly Record<string, unknown>[] {
  return requests[1]?.body.messages.at(-1).content ?? [];
}

const LIMIT = /more than 200 levels of objects and lists/;

describe.each(DEPTHS)("a tool's input of %d levels", (levels) => {
  const deep = (fields?: object): string => nested(levels, fields);

  test("is refused in a call of any tool, and the turn continues", async () => {
    const uses = [
      ["Bash", deep({ command: "touch made" })],
      ["Read", deep({ file_path: "a" })],
      ["Write", deep({ file_path: "made", content: "x" })],
      ["mcp__s__t", deep()],
      ["Unknown", deep()],
    ] as const;
    const { api, model } = await calls(...uses);
    const { agent, cwd, create, wasCalled } = agentWith(model);
    const before = process.cpuUsage();
    expect(await agent.run(input("go"), NEVER)).toMatchObject({ outcome: "completed", text: "Done." });
    const content = resultsIn(api);
    expect(content).toHaveLength(uses.length);
    for (const block of content.slice(0, 4)) {
      expect(block).toMatchObject({ is_error: true, content: expect.stringMatching(LIMIT) });
    }
    expect([existsSync(join(cwd, "made")), wasCalled()]).toEqual([false, false]);
    // The conversation stays usable, even after a restart.
    expect(create().messages).toHaveLength(4);
    expect(await agent.run(input("again"), NEVER)).toMatchObject({ outcome: "completed" });
    // Processor time: quadratic work with 100,000 levels would take minutes.
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(60_000);
  });

  test("is refused if a hook changed it", async () => {
    const { model, api } = await calls(["Bash", JSON.stringify({ command: "touch made" })]);
    const brackets = (one: string): string => `for (i = 0; i < ${levels}; i++) printf "${one}"`;
    const list = `awk 'BEGIN { ${brackets("[")}; ${brackets("]")} }'`;
    const hook = `printf '{"updatedInput":{"command":"touch made","deep":'; ${list}; printf '}}'`;
    const { agent, cwd } = agentWith(model, { hook });
    expect(await agent.run(input("go"), NEVER)).toMatchObject({ outcome: "completed" });
    const content = resultsIn(api);
    expect(content[0]).toMatchObject({ is_error: true });
    expect(content[0]?.content).toContain("its updatedInput is nested too deeply, which counts as a refusal");
    expect(existsSync(join(cwd, "made"))).toBe(false);
  });

  test("is refused if an answer to its request changed it", async () => {
    const { model, api } = await calls(["Bash", JSON.stringify({ command: "touch made" })]);
    const changed = JSON.parse(deep({ command: "touch made" }));
    const { agent, cwd } = agentWith(model, { ask: async () => ({ allowed: true, input: changed }) });
    expect(await agent.run(input("go"), NEVER)).toMatchObject({ outcome: "completed" });
    const content = resultsIn(api);
    expect(content[0]).toMatchObject({ is_error: true });
    expect(content[0]?.content).toContain("a changed input that is nested too deeply");
    expect(existsSync(join(cwd, "made"))).toBe(false);
  });

  test("is refused in a playbook, when it is read or when it is played", async () => {
    const call = `{"name":"Bash","input":${deep({ command: "touch made" })}}`;
    const text = `{"version":1,"agents":{"*":[{"tools":[${call}]},{"say":"Done."}]}}`;
    if (levels > 10_000) {
      expect(() => parsePlaybook(text, "p.json")).toThrow("is nested too deeply");
      return;
    }
    const playbook = parsePlaybook(text, "p.json");
    const model = scriptedModel({ playbook, agent: "ada", cwd: "/", env: {}, speed: 1000 });
    const { agent, cwd, create } = agentWith(model);
    expect(await agent.run(input("go"), NEVER)).toMatchObject({ outcome: "completed", text: "Done." });
    expect(JSON.stringify(create().messages)).toMatch(LIMIT);
    expect(existsSync(join(cwd, "made"))).toBe(false);
  });

  test("is an error if it is the answer of an MCP server", async () => {
    const { model, api } = await calls(["mcp__s__t", "{}"]);
    const answer = { content: [], structuredContent: JSON.parse(deep()) };
    const { agent, create } = agentWith(model, { answer });
    expect(await agent.run(input("go"), NEVER)).toMatchObject({ outcome: "completed" });
    const content = resultsIn(api);
    expect(content[0]).toMatchObject({ is_error: true });
    expect(content[0]?.content).toContain("nested too deeply");
    expect(create().messages).toHaveLength(4);
  });
});

test("a tool's input › is accepted with 199 levels, and its permission request shows all of them", async () => {
  const json = nested(198, { command: "touch made" });
  const { model, api } = await calls(["Bash", json], ["mcp__s__t", json]);
  const asked: unknown[] = [];
  const ask: AgentPermissions["ask"] = async (request) => {
    asked.push(request.input);
    return { allowed: true, input: request.input };
  };
  const { agent, cwd, wasCalled } = agentWith(model, { ask });
  expect(await agent.run(input("go"), NEVER)).toMatchObject({ outcome: "completed" });
  expect(asked).toEqual([JSON.parse(json), JSON.parse(json)]);
  expect(resultsIn(api)).toHaveLength(2);
  expect([existsSync(join(cwd, "made")), wasCalled()]).toEqual([true, true]);
});
