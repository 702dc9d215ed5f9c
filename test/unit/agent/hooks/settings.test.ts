import { describe, expect, it, test } from "vitest";
import { hookCommands, hooksSetting } from "../../../../src/agent/hooks/settings.ts";

describe("hookCommands", () => {
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
  ])("runs matcher %j for tool %s: %s", (matcher, subject, expected) => {
    expect(run(matcher, subject)).toBe(expected);
  });

  it("matches any of a tool's names", () => {
    const groups = [
      { matcher: "Task", hooks: [command("a")] },
      { matcher: "Tas.", hooks: [command("b")] },
    ];
    expect(hookCommands(setting(groups), "PreToolUse", ["Agent", "Task"])).toHaveLength(2);
    expect(hookCommands(setting(groups), "PreToolUse", ["Agent"])).toEqual([]);
  });

  it("returns each command once, in order, and ignores other kinds of hooks", () => {
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

  it("accepts any value for events of other programs", () => {
    expect(hooksSetting.safeParse({ SessionEnd: "x", Notification: [{ hooks: 5 }] }).success).toBe(true);
    expect(hooksSetting.safeParse({ Stop: [{ hooks: "x" }] }).success).toBe(false);
  });
});
