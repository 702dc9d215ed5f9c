import { describe, expect, it, test } from "vitest";
import { type HookEnd, hookResult } from "../../../../src/agent/hooks/result.ts";
import { applyHook } from "../../../../src/agent/permissions/decide.ts";

const ended = (end: Partial<HookEnd>): HookEnd => ({
  code: 0,
  signal: undefined,
  stdout: "",
  stderr: "",
  ...end,
});
const answered = (answer: unknown) => hookResult(ended({ stdout: JSON.stringify(answer) }));

describe("hookResult", () => {
  test.each<[string, Partial<HookEnd>, object]>([
    ["exit code 0", { stdout: "fine\n" }, { kind: "success", stdout: "fine" }],
    [
      "exit code 2",
      { code: 2, stderr: "not yet\n" },
      { kind: "stopped continuation", text: "not yet", ends: false },
    ],
    ["exit code 2 without a reason", { code: 2 }, { text: "it gave no reason" }],
    ["exit code 2 with JSON", { code: 2, stdout: `{"decision":"approve"}`, stderr: "no" }, { text: "no" }],
    ["exit code 1", { code: 1, stderr: "oops" }, { kind: "non-blocking error", text: "exit code 1: oops" }],
    ["exit code 127 without a reason", { code: 127 }, { kind: "non-blocking error", text: "exit code 127" }],
    [
      "a program that bash, called as sh, cannot find, in a line that exits with 1",
      { code: 1, stderr: "sh: line 1: ./guard: No such file or directory" },
      { notRun: true },
    ],
    [
      "a program that the shell cannot find, in a line that exits with 0",
      { stderr: "sh: 1: guard: not found" },
      { kind: "success" },
    ],
    [
      "a module that Python cannot find",
      { code: 1, stderr: "Traceback …\nModuleNotFoundError: No module named 'guard'" },
      { notRun: true },
    ],
    [
      "a script that Ruby cannot find",
      { code: 1, stderr: "ruby: No such file or directory -- guard.rb (LoadError)" },
      { notRun: true },
    ],
    [
      "a script that PHP cannot find",
      { code: 1, stderr: "Could not open input file: guard.php" },
      { notRun: true },
    ],
    [
      "a signal",
      { code: undefined, signal: "SIGSEGV" },
      { kind: "error while running", text: "was ended by SIGSEGV" },
    ],
    ["a timeout", { code: undefined, failure: "timed-out" }, { kind: "error while running" }],
    ["an abort", { code: undefined, failure: "aborted" }, { text: "was interrupted" }],
    [
      "a failed start",
      { code: undefined, failure: "not-started", message: "ENOENT" },
      { kind: "error while running", text: "could not be started: ENOENT" },
    ],
    [
      "a command that may still run",
      { code: undefined, failure: "not-ended", message: "EMFILE" },
      { kind: "error while running", text: "could not be ended, and may still run: EMFILE" },
    ],
  ])("reads %s", (_, end, expected) => {
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
  ])("obeys %j on stdout", (answer, expected) => {
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
  ])("ignores %j on stdout", (answer) => {
    expect(answered(answer)).toEqual({ kind: "success", stdout: "" });
  });

  test.each(["{ not JSON", "[1]", `"block"`, "null", "{}{}"])("treats %j on stdout as text", (stdout) => {
    expect(hookResult(ended({ stdout }))).toEqual({ kind: "success", stdout });
  });

  test.each([
    [`{"permissionDecision": "den`, "broken JSON"],
    [`{"decision": "block"} and so on`, "broken JSON"],
    [`{"permissionDecision": "maybe"}`, '"maybe"'],
    [`{"hookSpecificOutput": {"permissionDecision": "Deny"}}`, '"Deny"'],
    [`{"permissionDecision": "allow", "updatedInput": "rm"}`, "updatedInput"],
  ])("treats %s as a refusal, since it may be one", (stdout, why) => {
    const result = hookResult(ended({ stdout }));
    expect(result).toMatchObject({ kind: "stopped continuation", ends: false });
    expect("text" in result && result.text).toContain(why);
  });

  it("can replace the tool's input", () => {
    const other = { command: "ls" };
    expect(answered({ hookSpecificOutput: { permissionDecision: "allow", updatedInput: other } })).toEqual({
      kind: "success",
      stdout: "",
      permission: { behavior: "allow", reason: "it gave no reason" },
      input: other,
    });
  });

  it("strips control characters from texts and limits their length", () => {
    const result = hookResult(ended({ code: 2, stderr: `\x1b]0;x\x07\x1b[31mred${"x".repeat(50_000)}` }));
    expect(result).toMatchObject({ kind: "stopped continuation" });
    expect("text" in result && result.text.startsWith("redx")).toBe(true);
    expect("text" in result && result.text.length).toBeLessThan(10_050);
  });
});

describe("applyHook", () => {
  const decided = (behavior: "allow" | "deny" | "ask") => ({ behavior, reason: "r" });
  test.each<[string, Parameters<typeof applyHook>[0], "allow" | "deny" | "ask" | undefined, string]>([
    ["asks if the hook does not answer", decided("ask"), undefined, "ask"],
    ["denies if a hook denies an allowed call", decided("allow"), "deny", "deny"],
    ["denies if a hook denies a call that would be asked", decided("ask"), "deny", "deny"],
    ["asks if a hook asks for an allowed call", decided("allow"), "ask", "ask"],
    ["allows if a hook allows what the mode would ask", decided("ask"), "allow", "allow"],
    ["asks if a hook allows what a rule asks for", { ...decided("ask"), guarded: true }, "allow", "ask"],
    ["denies if a hook allows a denied call", decided("deny"), "allow", "deny"],
    ["denies if a hook asks for a denied call", decided("deny"), "ask", "deny"],
  ])("%s", (_, decision, hook, expected) => {
    expect(applyHook(decision, hook && decided(hook), "default").behavior).toBe(expected);
  });

  test("turns a hook's question into a denial in dontAsk mode, with its reason", () => {
    expect(applyHook(decided("allow"), decided("ask"), "dontAsk")).toEqual({
      behavior: "deny",
      reason: "dontAsk mode denies this call instead of asking. A hook asks: r",
    });
    expect(applyHook(decided("allow"), decided("allow"), "dontAsk").behavior).toBe("allow");
  });
});
