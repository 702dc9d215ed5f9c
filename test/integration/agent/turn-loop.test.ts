import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod/mini";
import { type Agent, type AgentOptions, createAgent, type TurnInput } from "../../../src/agent/agent.ts";
import { openTranscript } from "../../../src/agent/conversation/transcript.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { Hooks } from "../../../src/agent/hooks/hooks.ts";
import { hooksSetting } from "../../../src/agent/hooks/settings.ts";
import { mcpTool } from "../../../src/agent/mcp/mcp-tool.ts";
import { anthropicModel } from "../../../src/agent/model/anthropic.ts";
import { modelFacts } from "../../../src/agent/model/catalog.ts";
import type { ConversationMessage, Model } from "../../../src/agent/model/model.ts";
import { NO_RULES } from "../../../src/agent/permissions/rules.ts";
import { scriptedModel } from "../../../src/agent/playbook/scripted-model.ts";
import type { Tool } from "../../../src/agent/tool.ts";
import { builtinTools } from "../../../src/agent/tools/builtin-tools.ts";
import type { AgentPermissions, PermissionAsk } from "../../../src/agent/turn/permission.ts";
import type { TurnResult } from "../../../src/agent/turn/turn.ts";
import { secretsOf } from "../../../src/os/redact.ts";
import { type PlaybookTurn, parsePlaybook } from "../../../src/schema/playbook.ts";
import { NO_TOKENS } from "../../../src/schema/tokens.ts";
import { expectValidRequest } from "../../support/assertions/valid-request.ts";
import {
  callsOnce,
  type FakeBlock,
  type FakeRequest,
  startFakeMessagesApi,
  toolUse,
} from "../../support/model/fake-messages-api.ts";
import { eventually } from "../../support/timing/eventually.ts";

let home: string;
let cwd: string;
let events: AgentEvent[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "teams-agent-"));
  cwd = join(home, "work");
  mkdirSync(cwd);
  events = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const path = (): string => join(home, "sessions", "s1.jsonl");
const SECRET = "sk-very-secret-value";
const ENV = { PATH: process.env.PATH, HOME: "/nowhere", SOME_API_KEY: SECRET };

function input(text: string, keys: readonly string[] = []): TurnInput {
  return { text, origin: { text, from: "team-lead" }, keys };
}

interface Given extends Partial<AgentOptions> {
  readonly turns?: readonly PlaybookTurn[];
  readonly allow?: Partial<AgentPermissions>;
}

function agent({ turns = [], allow = {}, ...options }: Given = {}): Agent {
  const playbook = parsePlaybook(JSON.stringify({ version: 1, agents: { "*": turns } }), "test");
  return createAgent({
    model: scriptedModel({ playbook, agent: "ada", cwd, env: ENV, speed: 1000 }),
    tools: builtinTools(),
    system: "You are ada.",
    transcript: openTranscript(path(), { sessionId: "s1", secrets: secretsOf(ENV) }),
    cwd,
    env: ENV,
    permissions: {
      mode: () => "bypassPermissions",
      rules: NO_RULES,
      workingDirs: [cwd],
      ask: async () => ({ allowed: false }),
      ...allow,
    },
    onEvent: (event) => events.push(event),
    ...options,
  });
}

const never = new AbortController().signal;
const bash = (command: string, as?: string) => ({ name: "Bash", input: { command }, ...(as ? { as } : {}) });
const kinds = (): string[] => events.map(({ type }) => type);
const resultsOf = (messages: readonly ConversationMessage[]): string[] =>
  messages.flatMap(({ content }) => content.flatMap((b) => (b.type === "tool_result" ? [b.content] : [])));

/** Expects that the results of every call follow directly, as the Messages API requires. */
function expectValid(messages: readonly ConversationMessage[]): void {
  for (const [i, message] of messages.entries()) {
    const ids = message.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    const next = messages[i + 1]?.content.flatMap((b) => (b.type === "tool_result" ? [b.toolUseId] : []));
    if (ids.length > 0) expect(next).toEqual(ids);
  }
}

function tool(name: string, execute: Tool["execute"], more: Partial<Tool> = {}): Tool {
  return {
    name,
    description: name,
    input: z.object({}),
    access: () => ({ kind: "team" }),
    summary: () => "",
    execute,
    ...more,
  };
}

describe("Agent.run", () => {
  test("calls tools until the model is done, and emits an event for each step", async () => {
    writeFileSync(join(cwd, "a.txt"), "hello\n");
    const turns = [
      { say: "I look.", tools: [bash("cat a.txt", "cat")], usage: { input: 3, output: 4 } },
      { say: "It says {{cat.stdout}}.", usage: { input: 5, output: 6 } },
    ];
    const ada = agent({ turns });
    const result = await ada.run(input("look"), never);
    expect(result).toEqual({
      outcome: "completed",
      text: "It says hello.",
      toolCalls: 1,
      usage: { input: 8, output: 10, cacheRead: 0, cacheWrite: 0 },
      costUsd: 0,
    });
    expect(ada.tokens).toEqual(result.usage);
    // Whether a short command has output before its end depends on the machine.
    const seen = kinds().filter((kind) => kind !== "tool_output");
    expect(seen.filter((kind, i, all) => kind !== all[i - 1])).toEqual([
      "turn_started",
      "text",
      "model_called",
      "message",
      "spent",
      "tool_started",
      "permission_decided",
      "tool_ended",
      "text",
      "model_called",
      "message",
      "spent",
      "turn_ended",
    ]);
    expect(events.find(({ type }) => type === "tool_started")).toMatchObject({
      tool: "Bash",
      summary: "cat a.txt",
    });
    expect(events.find(({ type }) => type === "tool_ended")).toMatchObject({
      content: "hello",
      isError: false,
    });
  });

  test("saves the input, then reports it as recorded, then calls the model", async () => {
    const seen: unknown[] = [];
    const ada = agent({
      turns: [{ say: "hi" }],
      onInputRecorded: async () => {
        seen.push(readFileSync(path(), "utf8").includes('"keys":["k1","k2"]'), kinds().includes("text"));
      },
    });
    await ada.run(input("x", ["k1", "k2"]), never);
    expect(seen).toEqual([true, false]);
    expect([...ada.handledKeys]).toEqual(["k1", "k2"]);
  });

  test("returns an error result for invalid input and for an unknown tool", async () => {
    const tools = [
      { name: "Read", input: { path: "a" } },
      { name: "Fly", input: {} },
    ];
    const ada = agent({ turns: [{ tools }, { say: "ok" }] });
    expect((await ada.run(input("x"), never)).outcome).toBe("completed");
    const [wrong, unknown] = resultsOf(ada.messages);
    expect(wrong).toMatch(/^Wrong input for Read: file_path: /);
    expect(unknown).toMatch(/^There is no tool Fly here\. Available tools: Read, Write/);
  });

  test("names the input keys that a tool ignores, after its result and after an error", async () => {
    writeFileSync(join(cwd, "a"), "text");
    const tools = [
      { name: "Read", input: { file_path: join(cwd, "a"), line: 3, why: "x" } },
      { name: "Read", input: { path: "a" } },
      { name: "Read", input: { file_path: join(cwd, "a") } },
    ];
    const ada = agent({ turns: [{ tools }] });
    await ada.run(input("x"), never);
    const [ran, refused, plain] = resultsOf(ada.messages);
    expect(ran).toMatch(
      /text\n\nRead ignored these unknown keys of your input: line, why\. Known keys: file_path, /,
    );
    expect(refused).toMatch(/^Wrong input for Read: file_path: .*\n\nRead ignored .*: path\./s);
    expect(plain).not.toContain("ignored");
  });

  test("accepts any key for a tool of an MCP server", async () => {
    const served = mcpTool("s", { name: "t", inputSchema: { type: "object" } }, async () => ({
      content: [{ type: "text", text: "done" }],
    }));
    const ada = agent({ turns: [{ tools: [{ name: "mcp__s__t", input: { any: 1 } }] }], tools: [served] });
    await ada.run(input("x"), never);
    expect(resultsOf(ada.messages)).toEqual(["done"]);
  });

  test("returns an error result if a tool throws", async () => {
    const bad = tool("Bad", async () => {
      throw new Error("broken inside");
    });
    const ada = agent({ turns: [{ tools: [{ name: "Bad", input: {} }] }], tools: [bad] });
    await ada.run(input("x"), never);
    expect(ada.messages.flatMap(({ content }) => [...content])).toContainEqual(
      expect.objectContaining({ content: "broken inside", isError: true }),
    );
  });

  test("truncates a tool result at 100,000 characters", async () => {
    const long = tool("Long", async () => ({ content: "x".repeat(250_000) }));
    const ada = agent({ turns: [{ tools: [{ name: "Long", input: {} }] }], tools: [long] });
    await ada.run(input("x"), never);
    expect(resultsOf(ada.messages)[0]).toMatch(/^x{100000}\n… \(150000 more/);
  });

  test("keeps the notes of a person and of a hook with a truncated tool result", async () => {
    const long = tool("Long", async () => ({ content: "x".repeat(250_000) }), {
      access: () => ({ kind: "external" }),
    });
    const command = "echo 'read the rest' >&2; exit 2";
    const hooks = new Hooks({
      setting: hooksSetting.parse({ PostToolUse: [{ hooks: [{ type: "command", command }] }] }),
      sessionId: "s1",
      cwd,
      env: ENV,
      onNotice: () => undefined,
    });
    const ask = async () => ({ allowed: true, note: "only this once" });
    const ada = agent({
      turns: [{ tools: [{ name: "Long", input: {} }] }],
      tools: [long],
      hooks,
      allow: { mode: () => "default", ask },
    });
    await ada.run(input("x"), never);
    expect(resultsOf(ada.messages)[0]).toMatch(
      /^x{100000}\n… \(150000 more.*\)\n\nNote with the permission: only this once\n\nA hook says: read the rest$/,
    );
  });

  test("measures a tool call without the wall clock, which may be set meanwhile", async () => {
    const clock = vi.spyOn(Date, "now");
    onTestFinished(() => clock.mockRestore());
    const set = tool("Set", async () => {
      clock.mockReturnValue(0);
      return { content: "" };
    });
    await agent({ turns: [{ tools: [{ name: "Set", input: {} }] }], tools: [set] }).run(input("x"), never);
    const ms = events.flatMap((event) => (event.type === "tool_ended" ? [event.ms] : []));
    expect(ms).toHaveLength(1);
    expect(ms[0]).toBeGreaterThanOrEqual(0);
  });

  test("fails a turn after 500 model calls", async () => {
    const again = tool("Again", async () => ({ content: "" }));
    let calls = 0;
    const model: Model = {
      name: "m",
      async *stream() {
        calls += 1;
        const content = [{ type: "tool_use", id: `t${calls}`, name: "Again", input: {} }] as const;
        yield {
          type: "message",
          message: { role: "assistant", content },
          stopReason: "tool_use",
          usage: NO_TOKENS,
        };
      },
    };
    const turn = await agent({ model, tools: [again] }).run(input("x"), never);
    expect([turn.outcome, turn.failure, calls]).toEqual([
      "failed",
      expect.stringContaining("500 calls"),
      500,
    ]);
  });

  test("lets a tool end the turn, and skips the calls after it", async () => {
    const ran: string[] = [];
    const end = tool("End", async () => ({ content: "waiting", endTurn: true }));
    const other = tool("Other", async () => {
      ran.push("other");
      return { content: "" };
    });
    const tools = [
      { name: "End", input: {} },
      { name: "Other", input: {} },
    ];
    const ada = agent({ turns: [{ tools }, { say: "not yet" }], tools: [end, other] });
    expect(await ada.run(input("x"), never)).toMatchObject({ outcome: "completed", endedBy: "End" });
    expect(ran).toEqual([]);
    expectValid(ada.messages);
  });

  test("runs consecutive parallel tools together, and other tools one after another", async () => {
    const log: string[] = [];
    let open = 0;
    const make = (name: string, parallel: boolean) =>
      tool(
        name,
        async () => {
          open += 1;
          log.push(`${name} ${open}`);
          await new Promise((resolve) => setImmediate(resolve));
          open -= 1;
          return { content: name };
        },
        { parallel },
      );
    const names = ["R", "R", "W", "W", "R"];
    const ada = agent({
      turns: [{ tools: names.map((name) => ({ name, input: {} })) }],
      tools: [make("R", true), make("W", false)],
    });
    await ada.run(input("x"), never);
    expect(log).toEqual(["R 1", "R 2", "W 1", "W 1", "R 1"]);
    expect(resultsOf(ada.messages)).toEqual(names);
  });
});

test("Agent.run › runs at most 16 tool calls in parallel, and keeps their results in order", async () => {
  let open = 0;
  let maxOpen = 0;
  const slow = tool(
    "Slow",
    async (given) => {
      open += 1;
      maxOpen = Math.max(maxOpen, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return { content: String((given as { n: number }).n) };
    },
    { parallel: true, input: z.object({ n: z.number() }) },
  );
  const tools = Array.from({ length: 40 }, (_, n) => ({ name: "Slow", input: { n } }));
  const ada = agent({ turns: [{ tools }], tools: [slow] });
  await ada.run(input("x"), never);
  expect(maxOpen).toBe(16);
  expect(resultsOf(ada.messages)).toEqual(Array.from({ length: 40 }, (_, n) => String(n)));
});

describe("Agent.run, permissions", () => {
  const turns = [{ tools: [bash("touch x; echo ran")] }, { say: "done" }];

  test("asks for permission, and adds the note of the answer to the result (S61)", async () => {
    const asked: PermissionAsk[] = [];
    const ask = async (request: PermissionAsk) => {
      asked.push(request);
      return { allowed: true, note: "only this once" };
    };
    const ada = agent({ turns, allow: { mode: () => "default", ask } });
    await ada.run(input("x"), never);
    expect(asked).toMatchObject([
      { tool: "Bash", summary: "touch x; echo ran", input: { command: "touch x; echo ran" } },
    ]);
    expect(resultsOf(ada.messages)[0]).toBe("ran\n\nNote with the permission: only this once");
    expect(kinds()).toEqual(expect.arrayContaining(["permission_asked", "permission_decided"]));
    const id = asked[0]?.toolUseId;
    const decided = { type: "permission_decided", id, tool: "Bash", allowed: true, asked: true };
    expect(events).toContainEqual({ ...decided, reason: "only this once" });
  });

  test("does not record the reason for asking as the reason for allowing", async () => {
    const ada = agent({ turns, allow: { mode: () => "default", ask: async () => ({ allowed: true }) } });
    await ada.run(input("x"), never);
    const decided = { type: "permission_decided", id: expect.any(String), tool: "Bash" };
    expect(events.filter(({ type }) => type === "permission_decided")).toEqual([
      { ...decided, allowed: true, asked: true },
    ]);
  });

  describe("if the target changes after permission was given", () => {
    const write = { name: "Write", input: { file_path: "docs/notes.md", content: "x" } };
    /** Replaces `docs` with a symlink to the next target each time permission is given. */
    const asking = (targets: readonly string[], more: Partial<AgentPermissions> = {}) => {
      const directories = targets.map((name) => join(home, name));
      for (const directory of [join(cwd, "docs"), ...directories]) mkdirSync(directory, { recursive: true });
      const asked: PermissionAsk[] = [];
      const ask = async (request: PermissionAsk) => {
        const directory = directories[asked.length];
        asked.push(request);
        if (directory !== undefined) {
          rmSync(join(cwd, "docs"), { recursive: true });
          symlinkSync(directory, join(cwd, "docs"));
        }
        return { allowed: true };
      };
      return {
        asked,
        ada: agent({ turns: [{ tools: [write] }, {}], allow: { mode: () => "default", ask, ...more } }),
      };
    };

    test("asks again for the new target, and runs the call once that is allowed", async () => {
      const { asked, ada } = asking(["elsewhere"]);
      await ada.run(input("x"), never);
      expect(asked.map(({ reason }) => reason)).toEqual([
        "No rule allows Write here.",
        `${join(realpathSync(home), "elsewhere/notes.md")} is outside the working directories.`,
      ]);
      expect(existsSync(join(home, "elsewhere/notes.md"))).toBe(true);
    });

    test("refuses the call if a rule denies the new target", async () => {
      const rules = { ...NO_RULES, deny: ["Edit(**/kept/**)", `Edit(/${realpathSync(home)}/kept/**)`] };
      const { asked, ada } = asking(["kept"], { rules });
      await ada.run(input("x"), never);
      expect(asked).toHaveLength(1);
      expect(resultsOf(ada.messages)[0]).toContain("denies it");
      expect(existsSync(join(home, "kept/notes.md"))).toBe(false);
    });

    test("asks again as guarded if a new ask rule matches", async () => {
      let ask: readonly string[] = [];
      const { asked, ada } = asking([], {
        rules: () => ({ ...NO_RULES, ask }),
        ask: async (request) => {
          asked.push(request);
          ask = ["Edit(docs/**)"];
          return { allowed: true };
        },
      });
      await ada.run(input("x"), never);
      expect(asked.map(({ guarded }) => guarded)).toEqual([false, true]);
      expect(existsSync(join(cwd, "docs/notes.md"))).toBe(true);
    });

    test("refuses the call if the target changes after each of three permissions", async () => {
      const { asked, ada } = asking(["one", "two", "three", "four"]);
      await ada.run(input("x"), never);
      expect(asked).toHaveLength(3);
      expect(resultsOf(ada.messages)[0]).toContain("led to other files after each approval");
      expect(existsSync(join(home, "three/notes.md"))).toBe(false);
    });
  });

  describe("a call that is bound to fail", () => {
    const read = (file_path: string) => ({ name: "Read", input: { file_path } });
    const edit = (file_path: string, old_string: string, replace_all = false) => ({
      name: "Edit",
      input: { file_path, old_string, new_string: "new", replace_all },
    });
    /** Runs the calls one after another. Returns their results, and the tool and summary of each permission request. */
    async function runCalls(
      calls: readonly { name: string; input: Record<string, unknown> }[],
      rules = NO_RULES,
    ) {
      const asked: string[] = [];
      const ask = async ({ tool, summary }: PermissionAsk) => {
        asked.push(`${tool} ${summary}`);
        return { allowed: true };
      };
      const ada = agent({ turns: [{ tools: [...calls] }, {}], allow: { mode: () => "default", ask, rules } });
      await ada.run(input("x"), never);
      return { asked, results: resultsOf(ada.messages) };
    }

    test("fails without a permission request if the file was not read or the text does not match", async () => {
      writeFileSync(join(cwd, "unread.txt"), "old\n");
      writeFileSync(join(cwd, "a.txt"), "old old\n");
      const calls = [
        edit("unread.txt", "old"),
        { name: "Write", input: { file_path: "unread.txt", content: "new" } },
        edit("missing.txt", "old"),
        read("a.txt"),
        edit("a.txt", "absent"),
        edit("a.txt", "old"),
        edit("a.txt", "old", true),
      ];
      const { asked, results } = await runCalls(calls);
      expect(asked).toEqual(["Edit a.txt"]);
      expect(results).toEqual([
        expect.stringContaining("has not been read yet"),
        expect.stringContaining("has not been read yet"),
        expect.stringContaining("does not exist"),
        expect.stringContaining("old old"),
        expect.stringContaining("does not occur"),
        expect.stringContaining("occurs 2 times"),
        expect.stringContaining("2 places"),
      ]);
      expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("new new\n");
    });

    test("does not reveal whether a file exists that the agent may not read", async () => {
      writeFileSync(join(home, "there.txt"), "secret\n");
      const there = join(home, "there.txt");
      const missing = join(home, "missing.txt");
      const { asked, results } = await runCalls([edit(there, "secret"), edit(missing, "secret")]);
      expect(asked).toEqual([]);
      expect(results).toEqual(
        [there, missing].map((path) => `${path} has not been read yet. Read it first, then change it.`),
      );
    });

    test("is refused by a deny rule before it is checked", async () => {
      const { asked, results } = await runCalls([edit("missing.txt", "old")], {
        ...NO_RULES,
        deny: ["Edit"],
      });
      expect(asked).toEqual([]);
      expect(results[0]).toContain("The rule Edit denies it");
    });
  });

  test("does not run a call that is refused", async () => {
    const ask = async () => ({ allowed: false, note: "use ls" });
    const ada = agent({ turns: [{ tools: [bash("touch x")] }], allow: { mode: () => "default", ask } });
    await ada.run(input("x"), never);
    expect(resultsOf(ada.messages)[0]).toMatch(/^Permission for Bash was refused\. .* Note: use ls$/);
    expect(statSync(join(cwd, "x"), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("leaves files that a rule denies out of search results", async () => {
    writeFileSync(join(cwd, ".env"), "KEY=1\n");
    writeFileSync(join(cwd, "a.txt"), "KEY=2\n");
    const search = { name: "Grep", input: { pattern: "KEY", output_mode: "content" } };
    const turns = [{ tools: [search, { name: "Glob", input: { pattern: "**" } }] }, {}];
    const rules = { ...NO_RULES, deny: ["Read(./.env)"] };
    const ada = agent({ turns, allow: { mode: () => "default", rules } });
    await ada.run(input("go"), never);
    const note = "(left out by permission rules: 1 file)";
    expect(resultsOf(ada.messages)).toEqual([`a.txt:1:KEY=2\n${note}`, `a.txt\n${note}`]);
  });

  test("applies the mode that is current at each call", async () => {
    let mode: "plan" | "bypassPermissions" = "plan";
    const ada = agent({ turns: [...turns, ...turns], allow: { mode: () => mode } });
    await ada.run(input("x"), never);
    mode = "bypassPermissions";
    await ada.run(input("y"), never);
    expect(resultsOf(ada.messages)).toEqual([expect.stringContaining("plan mode"), "ran"]);
  });
});

describe("Agent.run, interrupts", () => {
  test("ends a running tool at once and leaves a valid conversation", async () => {
    const controller = new AbortController();
    // Longer than the time limit of a test.
    const ada = agent({
      turns: [{ tools: [bash("touch begun; sleep 600"), bash("touch never")] }, { say: "going on" }],
    });
    const running = ada.run(input("x"), controller.signal);
    await eventually("the tool", () => existsSync(join(cwd, "begun")));
    controller.abort();
    expect(await running).toMatchObject({ outcome: "interrupted" });
    expectValid(ada.messages);
    expect(resultsOf(ada.messages)).toEqual([
      expect.stringContaining("Interrupted"),
      expect.stringContaining("Not run"),
    ]);
    expect(await ada.run(input("y"), never)).toMatchObject({ outcome: "completed", text: "going on" });
  });

  test("ends the turn even if the tool ignores the interrupt", async () => {
    const controller = new AbortController();
    const deaf = tool("Deaf", () => {
      controller.abort();
      return new Promise<never>(() => undefined);
    });
    const turns = [{ tools: [{ name: "Deaf", input: {} }] }, { say: "going on" }];
    const ada = agent({ turns, tools: [deaf] });
    expect(await ada.run(input("x"), controller.signal)).toMatchObject({ outcome: "interrupted" });
    expect(resultsOf(ada.messages)).toEqual([expect.stringContaining("may have taken effect")]);
    expectValid(ada.messages);
    expect(await ada.run(input("y"), never)).toMatchObject({ text: "going on" });
  });

  test("ends the turn during the model's answer and keeps its partial text", async () => {
    const controller = new AbortController();
    const turns: PlaybookTurn[] = [{ say: "one two three four five six" }, { say: "next" }];
    const ada = agent({
      turns,
      onEvent: (event) => {
        if (event.type === "text") controller.abort();
      },
    });
    const result = await ada.run(input("x"), controller.signal);
    expect(result.outcome).toBe("interrupted");
    expect(ada.messages.at(-2)).toMatchObject({
      role: "assistant",
      unfinished: true,
      content: [{ text: "one " }],
    });
    expect((await ada.run(input("y"), never)).text).toBe("next");
  });

  test("cancels a permission request", async () => {
    const controller = new AbortController();
    const ask = (_: PermissionAsk, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        controller.abort();
      });
    const ada = agent({ turns: [{ tools: [bash("touch x")] }], allow: { mode: () => "default", ask } });
    expect((await ada.run(input("x"), controller.signal)).outcome).toBe("interrupted");
    expectValid(ada.messages);
  });

  test("skips the remaining calls if betweenTools returns stop", async () => {
    let checks = 0;
    const ada = agent({
      turns: [{ tools: [bash("echo 1"), bash("echo 2"), bash("echo 3")] }, { say: "no" }],
      betweenTools: async () => {
        checks += 1;
        return checks === 2 ? "stop" : "go";
      },
    });
    expect(await ada.run(input("x"), never)).toMatchObject({ outcome: "interrupted", toolCalls: 2 });
    expect(resultsOf(ada.messages)).toEqual(["1", "2", expect.stringContaining("Not run")]);
    expectValid(ada.messages);
  });
});

describe("Agent.run, model errors", () => {
  test("fails the turn, and the agent can run the next one", async () => {
    const turns = [{ error: { status: 401, type: "authentication_error" } }, { say: "better" }];
    const ada = agent({ turns });
    expect(await ada.run(input("x"), never)).toMatchObject({
      outcome: "failed",
      failure: "401 authentication_error",
      failureKind: "auth",
    });
    expect(events.at(-1)).toMatchObject({ type: "turn_ended", outcome: "failed", failureKind: "auth" });
    expect(await ada.run(input("y"), never)).toMatchObject({ outcome: "completed", text: "better" });
  });

  test("reports throttling on 529 and retries (S36)", async () => {
    const ada = agent({ turns: [{ error: { status: 529, type: "overloaded_error" }, say: "here" }] });
    expect((await ada.run(input("x"), never)).text).toBe("here");
    expect(events.filter(({ type }) => type === "throttled")).toMatchObject([{ status: 529, attempt: 1 }]);
  });
});

describe("Agent.run over the Messages API", () => {
  test("sends thinking, tool calls and results as a valid conversation", async () => {
    writeFileSync(join(cwd, "a.txt"), "42\n");
    const api = await startFakeMessagesApi([
      {
        kind: "message",
        blocks: [
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "tool_use", id: "t1", name: "Read", input: { file_path: "a.txt" } },
          { type: "tool_use", id: "t2", name: "Grep", input: { pattern: "4", output_mode: "content" } },
        ],
      },
      {
        kind: "message",
        blocks: [{ type: "text", text: "It is 42." }],
        usage: { input_tokens: 9, output_tokens: 2 },
      },
    ]);
    try {
      const ada = agent({ model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }) });
      expect(await ada.run(input("x"), never)).toMatchObject({ text: "It is 42.", toolCalls: 2 });
      const sent = api.requests[1]?.body.messages;
      expect(sent[1].content[0]).toEqual({ type: "thinking", thinking: "hm", signature: "s" });
      expect(sent[2].content).toMatchObject([
        { tool_use_id: "t1", content: "     1\t42" },
        { tool_use_id: "t2", content: "a.txt:1:42" },
      ]);
      expect(api.requests[0]?.body.tools.map(({ name }: { name: string }) => name)).toContain("Bash");
    } finally {
      await api.close();
    }
  });

  test("sends the conversation again after pause_turn", async () => {
    const api = await startFakeMessagesApi([
      { kind: "message", blocks: [{ type: "text", text: "Looking" }], stopReason: "pause_turn" },
      { kind: "message", blocks: [{ type: "text", text: "found" }] },
    ]);
    try {
      const ada = agent({ model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }) });
      expect(await ada.run(input("x"), never)).toMatchObject({ outcome: "completed", text: "found" });
      const sent = api.requests[1]?.body.messages;
      expect(sent.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "Looking" }] });
    } finally {
      await api.close();
    }
  });

  test("counts the usage of every answered attempt, including truncated and interrupted ones (S36)", async () => {
    const usage = { input_tokens: 1_000_000, output_tokens: 7 };
    const text = [{ type: "text", text: "one two three four" }] as const;
    const api = await startFakeMessagesApi((_, index) =>
      index === 4
        ? { kind: "error", status: 401, type: "authentication_error" }
        : {
            kind: "message",
            blocks: text,
            usage,
            ...(index === 0 || index === 3 ? { cutAfter: 4 } : {}),
            ...(index === 2 ? { paceMs: 20 } : {}),
          },
    );
    try {
      const controller = new AbortController();
      const model = anthropicModel({
        model: "claude-sonnet-5-5",
        facts: modelFacts("claude-sonnet-5-5"),
        apiKey: "k",
        baseUrl: api.url,
        sleep: async () => undefined,
      });
      const ada = agent({
        model,
        onEvent: (event) => {
          events.push(event);
          if (event.type === "text" && api.requests.length === 3) controller.abort();
        },
      });
      // The start of the truncated stream reported one output token.
      const first = await ada.run(input("x"), never);
      expect(first.usage).toEqual({ input: 2_000_000, output: 8, cacheRead: 0, cacheWrite: 0 });
      expect(first.costUsd).toBeCloseTo(2 * 2);
      const second = await ada.run(input("y"), controller.signal);
      expect(second).toMatchObject({ outcome: "interrupted", usage: { input: 1_000_000 } });
      expect(ada.tokens.input).toBe(3_000_000);
      expect(ada.costUsd).toBeCloseTo(3 * 2);
      const counted = events.flatMap((event) => (event.type === "spent" ? [event.usage.input] : []));
      expect(counted).toEqual([2_000_000, 1_000_000]);
      // Truncated again, then refused: the usage counts although there is no message.
      expect(await ada.run(input("z"), never)).toMatchObject({
        outcome: "failed",
        usage: { input: 1_000_000 },
      });
      expect(ada.tokens.input).toBe(4_000_000);
      const again = openTranscript(path(), { sessionId: "s1" }).restored;
      expect([again.tokens, again.costUsd]).toEqual([ada.tokens, ada.costUsd]);
    } finally {
      await api.close();
    }
  });

  test("keeps tool results without the data for playbooks, in memory and on disk", async () => {
    const block = { type: "tool_use", id: "t1", name: "Bash", input: { command: "echo out" } } as const;
    const api = await startFakeMessagesApi([
      { kind: "message", blocks: [block] },
      { kind: "message", blocks: [{ type: "text", text: "done" }] },
    ]);
    onTestFinished(() => api.close());
    const ada = agent({ model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }) });
    await ada.run(input("x"), never);
    expect(resultsOf(ada.messages)).toEqual(["out"]);
    expect(JSON.stringify(ada.messages)).not.toContain("exitCode");
    expect(readFileSync(path(), "utf8")).not.toContain("exitCode");
  });

  test("does not run a call truncated at max_tokens, and tells the model why", async () => {
    const api = await startFakeMessagesApi([
      {
        kind: "message",
        blocks: [{ type: "tool_use", id: "t1", name: "Write", input: { file_path: "a", content: "long" } }],
        stopReason: "max_tokens",
        dropDelta: 4,
      },
      { kind: "message", blocks: [{ type: "text", text: "in parts, then" }] },
    ]);
    try {
      const ada = agent({ model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }) });
      expect(await ada.run(input("x"), never)).toMatchObject({ outcome: "completed" });
      expect(resultsOf(ada.messages)).toEqual([expect.stringContaining("reached its maximum length")]);
    } finally {
      await api.close();
    }
  });

  test("does not blame the answer's length for invalid JSON input in a complete answer", async () => {
    const api = await startFakeMessagesApi([
      {
        kind: "message",
        blocks: [{ type: "tool_use", id: "t1", name: "Write", input: { file_path: "a", content: "long" } }],
        dropDelta: 4,
      },
      { kind: "message", blocks: [{ type: "text", text: "again, then" }] },
    ]);
    try {
      const ada = agent({ model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }) });
      expect(await ada.run(input("x"), never)).toMatchObject({ outcome: "completed" });
      expect(resultsOf(ada.messages)).toEqual([
        "The input of the call was not a complete JSON object, so the call was not made. Make it again.",
      ]);
    } finally {
      await api.close();
    }
  });

  test("lists only the offered tools if the model calls an unknown one", async () => {
    const tools = [tool("One", async () => ({ content: "" })), tool("Two", async () => ({ content: "" }))];
    const turns = [{ tools: [{ name: "Three", input: {} }] }, { say: "so be it" }];
    const ada = agent({ turns, tools, isOffered: ({ name }) => name === "One" });
    await ada.run(input("x"), never);
    expect(resultsOf(ada.messages)).toEqual(["There is no tool Three here. Available tools: One."]);
  });

  test("applies a hook that matches a tool by its alias", async () => {
    const stops = { matcher: "Older", hooks: [{ type: "command", command: "exit 2" }] };
    const hooks = new Hooks({
      setting: hooksSetting.parse({ PreToolUse: [stops] }),
      ...{ sessionId: "s", cwd, env: ENV, onNotice: () => undefined },
    });
    const runs: string[] = [];
    const renamed = tool("Newer", async () => ({ content: String(runs.push("one")) }), { alias: "Older" });
    const turns = [{ tools: [{ name: "Newer", input: {} }] }, { say: "so be it" }];
    const ada = agent({ turns, tools: [renamed], hooks });
    await ada.run(input("x"), never);
    expect(resultsOf(ada.messages)).toEqual([expect.stringContaining("A hook refused Newer")]);
    expect(runs).toEqual([]);
  });

  test.each([
    ["truncated", { a: "long" }, { dropDelta: 4 }],
    ["not an object", ["a"], {}],
  ])("does not run a call whose input is %s, and continues the turn", async (_, given, more) => {
    const block = { type: "tool_use", id: "t1", name: "mcp__any__thing", input: given } as const;
    const api = await startFakeMessagesApi([
      { kind: "message", blocks: [block], ...more },
      { kind: "message", blocks: [{ type: "text", text: "again, then" }] },
    ]);
    onTestFinished(() => api.close());
    const calls: unknown[] = [];
    const called = async (_name: string, args: unknown): Promise<object> => ({ content: [calls.push(args)] });
    const any = mcpTool("any", { name: "thing", inputSchema: { type: "object" } }, called);
    const model = anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url });
    const ada = agent({ model, tools: [any] });
    expect(await ada.run(input("x"), never)).toMatchObject({ outcome: "completed" });
    expect(calls).toEqual([]);
    for (const request of api.requests) expectValidRequest(request);
    expect(resultsOf(ada.messages)).toEqual([expect.stringContaining("not a complete JSON object")]);
  });

  const call = { type: "tool_use", id: "t1", name: "Bash", input: { command: "touch made" } } as const;
  const words = { type: "text", text: "words" } as const;
  test.each<[string, readonly FakeBlock[], Partial<TurnResult>, calls: number]>([
    ["end_turn", [words], { outcome: "completed", text: "words" }, 1],
    ["stop_sequence", [words], { outcome: "completed", text: "words" }, 1],
    ["tool_use", [words, call], { outcome: "completed", text: "last", toolCalls: 1 }, 2],
    // The stop reason is wrong, but the call still needs a result.
    ["end_turn", [call], { outcome: "completed", text: "last", toolCalls: 1 }, 2],
    ["max_tokens", [words], { outcome: "completed", text: "wordslast" }, 2],
    ["max_tokens", [words, call], { outcome: "completed", text: "last", toolCalls: 1 }, 2],
    ["pause_turn", [words], { outcome: "completed", text: "last" }, 2],
    ["refusal", [words], { outcome: "failed", failure: expect.stringContaining("refused") }, 1],
    ["refusal", [call], { outcome: "failed", toolCalls: 0 }, 1],
    ["model_context_window_exceeded", [words], { outcome: "completed", text: "wordslast" }, 2],
    ["a reason of tomorrow", [words], { outcome: "completed", text: "words" }, 1],
  ])(
    "handles the stop reason %s with %j, and sends a valid conversation next",
    async (stopReason, blocks, result, calls) => {
      const api = await startFakeMessagesApi((_, index) =>
        index === 0
          ? { kind: "message", blocks, stopReason }
          : { kind: "message", blocks: [{ type: "text", text: "last" }] },
      );
      try {
        const model = anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url });
        const ada = agent({ model });
        expect(await ada.run(input("x"), never)).toMatchObject(result);
        expect(api.requests).toHaveLength(calls);
        expect(existsSync(join(home, "work", "made"))).toBe(result.toolCalls === 1);
        for (const next of [ada, agent({ model })]) {
          expect(await next.run(input("y"), never)).toMatchObject({ outcome: "completed", text: "last" });
          expectValidRequest(api.requests.at(-1) as FakeRequest);
        }
      } finally {
        await api.close();
      }
    },
  );

  const TOO_LONG = "The answer reached the model's maximum length 4 times in a row.";
  test.each([
    ["fails after four answers in a row without a whole call", 4, { outcome: "failed", failure: TOO_LONG }],
    ["continues after a complete call", 3, { outcome: "completed", text: "last" }],
  ] as const)("a turn › %s", async (_, cutInARow, result) => {
    const cut = { ...call, json: '{"command": "tou' };
    const inARow = (length: number): FakeBlock[] => Array.from({ length }, () => cut);
    const answers = [...inARow(cutInARow), call, ...inARow(3)];
    const api = await startFakeMessagesApi((_request, index) => {
      const block = answers[index] ?? { type: "text", text: "last" };
      return { kind: "message", blocks: [block], stopReason: block === cut ? "max_tokens" : "end_turn" };
    });
    onTestFinished(() => api.close());
    const ada = agent({ model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }) });
    expect(await ada.run(input("x"), never)).toMatchObject(result);
    expect(api.requests).toHaveLength(result.outcome === "failed" ? 4 : 8);
    for (const request of api.requests) expectValidRequest(request);
  });

  test("accepts an answer of one token and an empty answer", async () => {
    const api = await startFakeMessagesApi([
      { kind: "message", blocks: [{ type: "text", text: "K" }] },
      { kind: "message", blocks: [] },
      { kind: "message", blocks: [{ type: "text", text: "on" }] },
    ]);
    try {
      const ada = agent({ model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }) });
      expect(await ada.run(input("x"), never)).toMatchObject({ outcome: "completed", text: "K" });
      expect(await ada.run(input("y"), never)).toMatchObject({ outcome: "completed", text: "" });
      expect(await ada.run(input("z"), never)).toMatchObject({ outcome: "completed", text: "on" });
    } finally {
      await api.close();
    }
  });

  test("continues an answer truncated at max_tokens, and fails on a refusal", async () => {
    const part = (text: string, stopReason: string) =>
      ({ kind: "message", blocks: [{ type: "text", text }], stopReason }) as const;
    const api = await startFakeMessagesApi([
      part("One", "max_tokens"),
      part("two.", "end_turn"),
      part("", "refusal"),
      part("O", "max_tokens"),
      part("ne.", "pause_turn"),
      part("Two.", "end_turn"),
    ]);
    try {
      const ada = agent({ model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }) });
      expect(await ada.run(input("x"), never)).toMatchObject({ outcome: "completed", text: "Onetwo." });
      expect(await ada.run(input("y"), never)).toMatchObject({ outcome: "failed" });
      // A refused message would be refused again: neither this process nor the next sends it.
      for (const next of [
        ada,
        agent({ model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url }) }),
      ]) {
        const { text } = await next.run(input("z"), never);
        // Text after a complete answer is a separate text.
        if (next === ada) expect(text).toBe("Two.");
        const sent = JSON.stringify(api.requests.at(-1)?.body.messages);
        expect(sent).not.toContain('"y"');
        expect(sent).toMatch(/"two\.".*refused.*"z"/);
      }
    } finally {
      await api.close();
    }
  });
});

describe("resumed conversation", () => {
  const turns = [{ tools: [bash("echo one", "x")] }, { say: "got {{x.stdout}}" }, { say: "and again {{x}}" }];

  test("restores messages, keys, tokens and the position in the playbook", async () => {
    const first = agent({ turns });
    await first.run(input("a", ["k1"]), never);
    const second = agent({ turns });
    expect(second.messages).toEqual(first.messages);
    expect([...second.handledKeys]).toEqual(["k1"]);
    expect(second.tokens).toEqual(first.tokens);
    expect((await second.run(input("b"), never)).text).toBe("and again one");
  });

  test("repairs a call without a result and a truncated last line (S21)", async () => {
    await agent({ turns }).run(input("a", ["k1"]), never);
    const whole = readFileSync(path(), "utf8");
    const lines = whole.trimEnd().split("\n");
    const upToCall = lines.slice(0, 3).join("\n");
    expect(upToCall).toContain("tool_use");
    writeFileSync(path(), `${upToCall}\n${lines[3]?.slice(0, 40)}`);
    const again = agent({ turns });
    expectValid(again.messages);
    expect(resultsOf(again.messages)).toEqual([expect.stringContaining("restarted")]);
    await again.run(input("b", ["k2"]), never);
    expect(readFileSync(path(), "utf8").startsWith(`${upToCall}\n{`)).toBe(true);
    expectValid(agent({ turns }).messages);
    expect([...agent({ turns }).handledKeys]).toEqual(["k1", "k2"]);
  });

  test.each([
    ["input", 1],
    ["call", 2],
    ["result", 3],
    ["last text", 4],
  ])("sends a valid conversation if the line with the %s is damaged", async (_, damaged) => {
    const api = await startFakeMessagesApi(callsOnce([toolUse("t1", "Bash", { command: "echo out" })]));
    onTestFinished(() => api.close());
    const model = anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url });
    await agent({ model }).run(input("x"), never);
    const lines = readFileSync(path(), "utf8").split("\n");
    expect(lines).toHaveLength(6);
    writeFileSync(path(), lines.map((line, i) => (i === damaged ? line.slice(0, 20) : line)).join("\n"));
    expect(await agent({ model }).run(input("y"), never)).toMatchObject({ outcome: "completed" });
    expectValidRequest(api.requests.at(-1) as FakeRequest);
    expect(JSON.stringify(api.requests.at(-1)?.body.messages)).toContain('"y"');
  });

  test("sends no result without its call if an earlier call has the same id", async () => {
    const api = await startFakeMessagesApi((_, index) => ({
      kind: "message",
      blocks: index < 2 ? [toolUse("t1", "Bash", { command: "true" })] : [{ type: "text", text: "Done." }],
    }));
    onTestFinished(() => api.close());
    const model = anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url });
    await agent({ model }).run(input("x"), never);
    const lines = readFileSync(path(), "utf8").split("\n");
    const second = lines.findLastIndex((line) => line.includes('"tool_use"'));
    writeFileSync(path(), lines.map((line, i) => (i === second ? line.slice(0, 20) : line)).join("\n"));
    expect(await agent({ model }).run(input("y"), never)).toMatchObject({ outcome: "completed" });
    expectValidRequest(api.requests.at(-1) as FakeRequest);
  });

  test("remembers the newest 10,000 message keys", async () => {
    const keys = Array.from({ length: 10_050 }, (_, i) => `k${i}`);
    const ada = agent({ turns });
    await ada.run(input("a", keys), never);
    expect([...ada.handledKeys]).toEqual(keys.slice(50));
  });

  test("skips invalid and unknown lines", async () => {
    await agent({ turns }).run(input("a"), never);
    writeFileSync(path(), `rubbish\n{"type":"from the future"}\n${readFileSync(path(), "utf8")}`);
    expect(agent({ turns }).messages).toHaveLength(4);
  });

  test("is stored in a private file and directory", async () => {
    await agent({ turns }).run(input("a"), never);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, "sessions")).mode & 0o777).toBe(0o700);
  });
});

/** Wraps a model so that its text streams in pieces of three characters. */
const inPieces = (model: Model): Model => ({
  name: model.name,
  async *stream(request, signal) {
    for await (const event of model.stream(request, signal)) {
      if (event.type !== "text") yield event;
      else for (const piece of event.text.match(/.{1,3}/gs) ?? []) yield { ...event, text: piece };
    }
  },
});

test("Agent.run › redacts a key that a tool prints in the transcript and in events (S75)", async () => {
  const turns = [
    { tools: [bash('echo $SOME_API_KEY; echo "\\"$SOME_API_KEY\\""')] },
    { say: `so ${SECRET} is sk-very` },
  ];
  const playbook = parsePlaybook(JSON.stringify({ version: 1, agents: { "*": turns } }), "test");
  const ada = agent({
    model: inPieces(scriptedModel({ playbook, agent: "ada", cwd, env: ENV, speed: 1000 })),
  });
  await ada.run(input(`my key is ${SECRET}`), never);
  expect(resultsOf(ada.messages)[0]).toContain(SECRET);
  expect(readFileSync(path(), "utf8")).not.toContain(SECRET);
  expect(readFileSync(path(), "utf8")).toContain("[secret]");
  expect(JSON.stringify(events)).not.toContain(SECRET);
  const streamed = events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("");
  expect(streamed).toBe("so [secret] is sk-very");
});
