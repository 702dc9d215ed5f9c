import { shellQuote } from "../../text/shell-quote.ts";

/**
 * The hooks of claude that report its state. 2.1.34 refuses a settings file with an unknown hook, so newer hooks are missing here.
 */
export const CLAUDE_HOOKS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "Notification",
  "Stop",
  "TeammateIdle",
] as const;
type ClaudeHook = (typeof CLAUDE_HOOKS)[number];

/** Seconds until claude continues without the answer of our hook. */
const TIMEOUT_S = 10;

/**
 * Returns the settings that make claude call a command at each hook; a person's own hooks run too.
 * @param command program and arguments; the hook's name follows
 */
export function hookSettings(command: readonly string[]): object {
  const line = (hook: ClaudeHook): string => [...command, hook].map(shellQuote).join(" ");
  return {
    hooks: Object.fromEntries(
      CLAUDE_HOOKS.map((hook) => [
        hook,
        [{ hooks: [{ type: "command", command: line(hook), timeout: TIMEOUT_S }] }],
      ]),
    ),
  };
}
