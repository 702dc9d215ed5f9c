import { expect, test } from "vitest";
import { HOOK_NAMES } from "../../../../src/adapter/hook-report.ts";
import { CLAUDE_HOOKS, hookSettings } from "../../../../src/adapter/inbox/claude-hooks.ts";

/** The hook names of Claude Code 2.1.34, which refuses a settings file with any other hook. */
const OLDEST =
  "PreToolUse PostToolUse PostToolUseFailure Notification UserPromptSubmit SessionStart SessionEnd Stop SubagentStart SubagentStop PreCompact PermissionRequest Setup TeammateIdle TaskCompleted";

test("hooks of claude › have names that its oldest supported version knows, and a command without open quotes", () => {
  expect(CLAUDE_HOOKS.filter((name) => !HOOK_NAMES.includes(name))).toEqual([]);
  expect(CLAUDE_HOOKS.filter((name) => !OLDEST.split(" ").includes(name))).toEqual([]);
  const { hooks } = hookSettings(["/a path/teams", "hook", "--as", "it's"]) as {
    hooks: Record<string, { hooks: { command: string }[] }[]>;
  };
  expect(hooks.Stop?.[0]?.hooks[0]?.command).toBe("'/a path/teams' 'hook' '--as' 'it'\\''s' 'Stop'");
});
