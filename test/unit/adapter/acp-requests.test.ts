import { describe, expect, it } from "vitest";
import { type AcpCall, isTeamCall, optionFor, requestOf } from "../../../src/adapter/acp/acp-requests.ts";
import { PromptUsage, sessionCostOf, usageOf } from "../../../src/adapter/acp/acp-usage.ts";
import { decidePermission } from "../../../src/agent/permissions/decide.ts";
import { NO_RULES } from "../../../src/agent/permissions/rules.ts";
import { sumOf } from "../../../src/schema/tokens.ts";

const place = { cwd: "/repo", commandInTitle: false };
const call = (fields: Partial<AcpCall>): AcpCall => ({ toolCallId: "1", ...fields });

/** Requests of real CLIs, recorded in November 2026: claude-agent-acp 0.101.0, codex-acp 2.6.0, gemini 0.61.0, opencode 1.18.33. */
const RECORDED = {
  claude: call({
    rawInput: { command: "echo made > made.txt", description: "make a file" },
    title: "echo made > made.txt",
    kind: "execute",
    content: [{ type: "content", content: { type: "text", text: "make a file" } }],
    locations: [{ path: "/repo/made.txt" }],
  }),
  codex: call({
    title: "echo made > made-codex.txt",
    rawInput: { command: "echo made > made-codex.txt", cwd: "/repo" },
    kind: "execute",
  }),
  gemini: call({
    title: "echo made > made-gemini.txt",
    content: [
      { type: "content", content: { type: "text", text: "[current working directory /repo] (make)" } },
    ],
    locations: [],
    kind: "execute",
  }),
  opencode: call({
    title: "echo made > made-chat.txt",
    kind: "execute",
    locations: [],
    rawInput: { command: "echo made > made-chat.txt" },
  }),
};
const TEAM_CALLS = {
  claude: call({ rawInput: { to: "team-lead" }, title: "mcp__teams__SendMessage", kind: "other" }),
  codex: call({
    kind: "execute",
    title: "mcp.teams.SendMessage",
    rawInput: { server: "teams", tool: "SendMessage", arguments: { to: "team-lead" } },
  }),
  gemini: call({ title: "SendMessage (teams MCP Server)", kind: "other", locations: [] }),
  opencode: call({ title: "teams_SendMessage", kind: "other", rawInput: {} }),
  qwen: call({
    title: '{"recipient":"team-lead"}',
    kind: "other",
    rawInput: { recipient: "team-lead" },
    _meta: { toolName: "mcp__teams__SendMessage" },
  }),
};

describe("requestOf", () => {
  it.each(["claude", "codex", "opencode"] as const)("reads a command of %s as Bash", (cli) => {
    const { command } = RECORDED[cli].rawInput as { command: string };
    expect(requestOf(RECORDED[cli], place)).toEqual({
      tool: "Bash",
      summary: command,
      input: { command },
      access: { kind: "command", command },
    });
  });

  it("reads a title as a command only for a CLI whose titles are commands", () => {
    const command = "echo made > made-gemini.txt";
    expect(requestOf(RECORDED.gemini, { ...place, commandInTitle: true }).access).toEqual({
      kind: "command",
      command,
    });
    expect(requestOf(RECORDED.gemini, place)).toMatchObject({
      summary: command,
      access: { kind: "external" },
    });
  });

  it.each(["cwd", "workdir", "directory", "dir_path"])("adds the directory in %s to a command", (field) => {
    const at = (path: string) =>
      requestOf(call({ kind: "execute", rawInput: { command: "npm test", [field]: path } }), place).access;
    expect(at("/tmp/x")).toEqual({ kind: "command", command: "cd '/tmp/x' && npm test" });
    expect(at("/repo/")).toEqual({ kind: "command", command: "npm test" });
    const two = { command: "npm test", [field]: "/tmp/x", cwd: "/tmp/y", workdir: "/tmp/z" };
    expect(requestOf(call({ kind: "execute", rawInput: two }), place).access).toEqual({ kind: "external" });
  });

  it("asks for a command of Gemini in another directory", () => {
    const content = (text: string) => [{ type: "content", content: { type: "text", text } }];
    const one = call({ kind: "execute", title: "cat key", content: content("[in secrets] (show)") });
    expect(requestOf(one, { ...place, commandInTitle: true })).toMatchObject({
      tool: "Bash",
      summary: "cat key",
      access: { kind: "external" },
    });
  });

  it("applies the rules for Bash to a command that is not understood, whatever its title is", () => {
    const rawInput = { command: "rm -rf ~", cwd: "/a", workdir: "/b" };
    const title = "mcp__docs__find; rm -rf ~";
    const { tool, access } = requestOf(call({ kind: "execute", title, rawInput }), place);
    const decide = (deny: readonly string[]) => {
      const rules = { ...NO_RULES, allow: ["mcp__docs__find", "Grep", "Bash"], deny };
      return decidePermission({ mode: "default", tool, access, rules, workingDirs: ["/repo"] }).behavior;
    };
    expect([decide([]), decide(["Bash(rm:*)"])]).toEqual(["ask", "deny"]);
  });

  it("names an MCP tool of Codex by its server and name, not by its title", () => {
    const rawInput = { server: "docs", tool: "find", arguments: { text: "x" } };
    expect(requestOf(call({ kind: "execute", title: "Grep x", rawInput }), place).tool).toBe("mcp.docs.find");
  });

  it("includes every path of a change, even a path that is not in its diff", () => {
    const change = call({
      kind: "edit",
      title: "Edit a.ts",
      content: [{ type: "diff", path: "a.ts", oldText: "x", newText: "y" }],
      locations: [{ path: "/etc/passwd" }],
      rawInput: { file_path: "../b.ts" },
    });
    expect(requestOf(change, place)).toMatchObject({
      tool: "Edit",
      input: { file_path: "/repo/a.ts", old_string: "x", new_string: "y" },
      access: { kind: "write", paths: ["/repo/a.ts", "/etc/passwd", "/b.ts"] },
    });
  });

  it.each([
    ["a move", call({ kind: "move", locations: [{ path: "a" }, { path: "b" }] }), ["/repo/a", "/repo/b"]],
    ["a removal", call({ kind: "delete", rawInput: { path: ".git/config" } }), ["/repo/.git/config"]],
  ])("reads %s as a change of its paths", (_, one, paths) => {
    expect(requestOf(one, place).access).toEqual({ kind: "write", paths });
  });

  it.each([
    [
      "a page",
      call({ kind: "fetch", rawInput: { url: "https://example.org/x" } }),
      { kind: "host", host: "example.org" },
    ],
    [
      "a page on a port of this machine",
      call({ kind: "fetch", rawInput: { url: "http://LOCALHOST.:8080/x" } }),
      { kind: "host", host: "localhost" },
    ],
    [
      "a page at an address with a port",
      call({ kind: "fetch", rawInput: { url: "http://[::1]:2375/" } }),
      { kind: "host", host: "::1" },
    ],
    [
      "a file as a page",
      call({ kind: "fetch", rawInput: { url: "file:///etc/passwd" } }),
      { kind: "external" },
    ],
    ["a page without an address", call({ kind: "fetch", title: "the web" }), { kind: "external" }],
    ["a command that is not named", call({ kind: "execute", title: "ls" }), { kind: "external" }],
    ["an unknown kind", call({ kind: "switch_mode", title: "code" }), { kind: "external" }],
    ["nothing", call({}), { kind: "external" }],
  ])("reads %s", (_, one, access) => {
    expect(requestOf(one, place).access).toEqual(access);
  });

  it("cuts and cleans titles, and marks the cut", () => {
    const { summary, tool } = requestOf(
      call({ kind: "other", title: `\u001b[31mred\n${"x".repeat(9_999)}` }),
      place,
    );
    expect(summary).toMatch(/^red x{1996}… \(8003 more characters\)$/);
    expect(tool.length).toBeLessThanOrEqual(64);
  });
});

describe("isTeamCall", () => {
  it.each(Object.entries(TEAM_CALLS))("recognizes a team tool of %s", (_, one) =>
    expect(isTeamCall(one)).toBe(true),
  );

  it.each([
    [
      "a command of that name",
      call({ kind: "execute", title: "mcp.teams.SendMessage", rawInput: { command: "mcp.teams.x" } }),
    ],
    [
      "a command that names the server",
      call({ kind: "execute", title: "x", rawInput: { server: "teams", command: "rm -r ." } }),
    ],
    [
      "a title of that name for another tool",
      call({ kind: "other", title: "mcp__teams__SendMessage", _meta: { toolName: "mcp__mail__send" } }),
    ],
    ["another server", call({ kind: "other", title: "mcp__teams2__SendMessage" })],
    [
      "an input that names the server",
      call({
        kind: "other",
        title: "mcp__mail__send",
        rawInput: { server: "teams", tool: "x", arguments: {} },
      }),
    ],
    [
      "a program with additional input",
      call({
        kind: "execute",
        title: "x",
        rawInput: { server: "teams", tool: "x", arguments: {}, script: "y" },
      }),
    ],
    ["a file of that name", call({ kind: "read", title: "teams_x", locations: [{ path: "/etc/teams_x" }] })],
    ["a subagent of that name", call({ kind: "think", title: "mcp__teams__x" })],
    ["more words", call({ kind: "other", title: "rm (teams MCP Server) x" })],
  ])("does not take %s for a team call", (_, one) => expect(isTeamCall(one)).toBe(false));
});

describe("optionFor", () => {
  it("never chooses an option that covers more than one call", () => {
    const always = { optionId: "a", kind: "allow_always" };
    const options = [always, { optionId: "o", kind: "allow_once" }, { optionId: "r", kind: "reject_once" }];
    expect([optionFor(options, true), optionFor(options, false)]).toEqual(["o", "r"]);
    expect([optionFor([always], true), optionFor([always], false)]).toEqual([undefined, undefined]);
  });
});

describe("usageOf and sessionCostOf", () => {
  it.each([
    [
      "claude",
      { usage: { inputTokens: 30, outputTokens: 15, cachedReadTokens: 4, cachedWriteTokens: 2 } },
      [30, 15, 4, 2],
    ],
    [
      "gemini",
      { _meta: { quota: { token_count: { input_tokens: 20, output_tokens: 10 } } } },
      [20, 10, 0, 0],
    ],
    ["qwen", { _meta: { usage: { inputTokens: 10, outputTokens: 5, cachedReadTokens: 0 } } }, [10, 5, 0, 0]],
    [
      "a hostile CLI",
      { usage: { inputTokens: -5, outputTokens: "many", cachedReadTokens: Number.POSITIVE_INFINITY } },
      [0, 0, 0, 0],
    ],
    ["a result that is no object", "x", [0, 0, 0, 0]],
  ])("reads the tokens of %s", (_, result, [input, output, cacheRead, cacheWrite]) => {
    expect(usageOf(result)).toEqual({ usage: { input, output, cacheRead, cacheWrite }, costUsd: 0 });
  });

  it("reports the tokens of chunks at once, and only the unreported tokens of the result", () => {
    const chunk = { _meta: { usage: { inputTokens: 10, outputTokens: 5 } } };
    const usage = new PromptUsage();
    expect([chunk, {}, chunk].map((update) => sumOf(usage.addChunk(update).usage))).toEqual([15, 0, 15]);
    expect(sumOf(usage.rest({}).usage)).toBe(0);
    expect(sumOf(usage.rest({ usage: { inputTokens: 22, outputTokens: 10 } }).usage)).toBe(2);
    // The chunks of a prompt that ended with an error do not count for the next prompt.
    expect(sumOf(new PromptUsage().rest({ usage: { inputTokens: 7 } }).usage)).toBe(7);
  });

  it("reads the cost in dollars only", () => {
    expect(sessionCostOf({ cost: { amount: 0.5, currency: "USD" } })).toBe(0.5);
    expect(sessionCostOf({ cost: { amount: 0.5, currency: "EUR" } })).toBeUndefined();
    expect(sessionCostOf({ cost: { amount: -1, currency: "USD" } })).toBeUndefined();
  });
});
