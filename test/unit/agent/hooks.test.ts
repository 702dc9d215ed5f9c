import { describe, expect, it, test } from "vitest";
import { type HookEnd, hookResult } from "../../../src/agent/hooks/result.ts";
import { hookCommands, hooksSetting } from "../../../src/agent/hooks/settings.ts";
import { withHook } from "../../../src/agent/permissions/decide.ts";

const ended = (end: Partial<HookEnd>): HookEnd => ({
  code: 0,
  signal: undefined,
  stdout: "",
  stderr: "",
  ...end,
});
const answered = (answer: unknown) => hookResult(ended({ stdout: JSON.stringify(answer) }));

describe("what the end of a hook means", () => {
  test.each<[string, Partial<HookEnd>, object]>([
    ["0", { stdout: "fine\n" }, { kind: "success", stdout: "fine" }],
    ["2", { code: 2, stderr: "not yet\n" }, { kind: "stopped continuation", text: "not yet", ends: false }],
    ["2 without a word", { code: 2 }, { text: "it gave no reason" }],
    ["2 with JSON", { code: 2, stdout: `{"decision":"approve"}`, stderr: "no" }, { text: "no" }],
    ["1", { code: 1, stderr: "oops" }, { kind: "non-blocking error", text: "exit code 1: oops" }],
    ["127 without a word", { code: 127 }, { kind: "non-blocking error", text: "exit code 127" }],
    [
      "a signal",
      { code: undefined, signal: "SIGSEGV" },
      { kind: "error while running", text: "was ended by SIGSEGV" },
    ],
    ["its timeout", { code: undefined, failure: "timed-out" }, { kind: "error while running" }],
    ["an abort", { code: undefined, failure: "aborted" }, { text: "was interrupted" }],
    [
      "no start",
      { code: undefined, failure: "not-started", message: "ENOENT" },
      { kind: "error while running", text: "could not be started: ENOENT" },
    ],
  ])("%s", (_, end, expected) => {
    expect(hookResult(ended(end))).toMatchObject(expected);
  });

  test.each<[unknown, object]>([
    [
      { continue: false, stopReason: "enough" },
      { kind: "stopped continuation", text: "enough", ends: true },
    ],
    [
      { decision: "block", reason: "tests fail" },
      { kind: "stopped continuation", text: "tests fail", ends: false },
    ],
    [{ permissionDecision: "deny", reason: "no" }, { permission: { behavior: "deny", reason: "no" } }],
    [
      { hookSpecificOutput: { permissionDecision: "ask", permissionDecisionReason: "look" } },
      { permission: { behavior: "ask", reason: "look" } },
    ],
    [{ decision: "approve" }, { permission: { behavior: "allow", reason: "it gave no reason" } }],
    [{ systemMessage: "hello" }, { kind: "success", stdout: "", message: "hello" }],
    [
      { continue: true, suppressOutput: true },
      { kind: "success", stdout: "" },
    ],
  ])("%j on stdout is obeyed", (answer, expected) => {
    expect(answered(answer)).toMatchObject(expected);
  });

  test.each<unknown>([
    { continue: "false" },
    { decision: ["block"] },
    { permissionDecision: 5, hookSpecificOutput: 7 },
    { hookSpecificOutput: { permissionDecision: "defer" } },
    { updatedInput: null },
    { systemMessage: { text: "x" } },
    { reason: 5 },
  ])("%j says nothing", (answer) => {
    expect(answered(answer)).toEqual({ kind: "success", stdout: "" });
  });

  test.each(["{ not JSON", "[1]", `"block"`, "null", "{}{}"])("%j are words", (stdout) => {
    expect(hookResult(ended({ stdout }))).toEqual({ kind: "success", stdout });
  });

  test.each([
    [`{"permissionDecision": "den`, "cannot be read"],
    [`{"decision": "block"} and so on`, "cannot be read"],
    [`{"permissionDecision": "maybe"}`, '"maybe"'],
    [`{"hookSpecificOutput": {"permissionDecision": "Deny"}}`, '"Deny"'],
    [`{"permissionDecision": "allow", "updatedInput": "rm"}`, "updatedInput"],
  ])("%s may have been a refusal, and is one", (stdout, why) => {
    const result = hookResult(ended({ stdout }));
    expect(result).toMatchObject({ kind: "stopped continuation", ends: false });
    expect("text" in result && result.text).toContain(why);
  });

  it("may hold another input for the tool", () => {
    const other = { command: "ls" };
    expect(answered({ hookSpecificOutput: { permissionDecision: "allow", updatedInput: other } })).toEqual({
      kind: "success",
      stdout: "",
      permission: { behavior: "allow", reason: "it gave no reason" },
      input: other,
    });
  });

  it("are words that act on no terminal, and fit on one", () => {
    const result = hookResult(ended({ code: 2, stderr: `\x1b]0;x\x07\x1b[31mred${"x".repeat(50_000)}` }));
    expect(result).toMatchObject({ kind: "stopped continuation" });
    expect("text" in result && result.text.startsWith("redx")).toBe(true);
    expect("text" in result && result.text.length).toBeLessThan(10_010);
  });
});

describe("which commands are run", () => {
  const setting = (groups: unknown) => hooksSetting.parse({ PreToolUse: groups });
  const command = (line: string, more: object = {}) => ({ type: "command", command: line, ...more });
  const run = (matcher: string | undefined, subject: string) =>
    hookCommands(setting([{ matcher, hooks: [command("x")] }]), "PreToolUse", [subject]).length === 1;

  test.each([
    [undefined, "Bash", true],
    ["", "Bash", true],
    ["*", "Bash", true],
    ["Bash", "Bash", true],
    ["Bash", "BashOutput", false],
    ["Write|Edit", "Edit", true],
    ["Write|Edit", "Read", false],
    ["mcp__.*__write", "mcp__docs__write", true],
    ["Task.*", "MyTask", false],
    ["([", "Bash", true],
  ])("matcher %j and %s: %s", (matcher, subject, expected) => {
    expect(run(matcher, subject)).toBe(expected);
  });

  it("are those for either of the names that a tool has", () => {
    const groups = [
      { matcher: "Task", hooks: [command("a")] },
      { matcher: "Tas.", hooks: [command("b")] },
    ];
    expect(hookCommands(setting(groups), "PreToolUse", ["Agent", "Task"])).toHaveLength(2);
    expect(hookCommands(setting(groups), "PreToolUse", ["Agent"])).toEqual([]);
  });

  it("are each once, in their order, those that are no command left out", () => {
    const groups = [
      { hooks: [command("a", { timeout: 2 }), { type: "prompt", prompt: "?" }, command("b")] },
      { matcher: "Bash", hooks: [command("a"), { type: "command" }] },
    ];
    expect(hookCommands(setting(groups), "PreToolUse", ["Bash"])).toEqual([
      { command: "a", timeoutMs: 2_000 },
      { command: "b", timeoutMs: 60_000 },
    ]);
    expect(hookCommands(setting(groups), "Stop", [])).toEqual([]);
  });

  it("may belong to events of other programs, which look as they like", () => {
    expect(hooksSetting.safeParse({ SessionStart: "x", Notification: [{ hooks: 5 }] }).success).toBe(true);
    expect(hooksSetting.safeParse({ Stop: [{ hooks: "x" }] }).success).toBe(false);
  });
});

describe("a hook's word on a call", () => {
  const said = (behavior: "allow" | "deny" | "ask") => ({ behavior, reason: "r" });
  test.each<[string, Parameters<typeof withHook>[0], "allow" | "deny" | "ask" | undefined, string]>([
    ["none", said("ask"), undefined, "ask"],
    ["a denial of what is allowed", said("allow"), "deny", "deny"],
    ["a denial of what is asked", said("ask"), "deny", "deny"],
    ["a question of what is allowed", said("allow"), "ask", "ask"],
    ["an allowance of what the mode asks", said("ask"), "allow", "allow"],
    ["an allowance of what a rule asks", { ...said("ask"), guarded: true }, "allow", "ask"],
    ["an allowance of what is denied", said("deny"), "allow", "deny"],
    ["a question of what is denied", said("deny"), "ask", "deny"],
  ])("%s", (_, decision, hook, expected) => {
    expect(withHook(decision, hook && said(hook), "default").behavior).toBe(expected);
  });

  test("asks nobody in dontAsk: its question is a refusal there, with its words", () => {
    expect(withHook(said("allow"), said("ask"), "dontAsk")).toEqual({
      behavior: "deny",
      reason: "A hook asks: r In dontAsk mode that is a refusal.",
    });
    expect(withHook(said("allow"), said("allow"), "dontAsk").behavior).toBe("allow");
  });
});
