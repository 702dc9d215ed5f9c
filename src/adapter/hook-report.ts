import type { HookEvent, HookRecord } from "../schema/status.ts";
import { lastWordsIn } from "./last-words.ts";
import { type Fields, fieldsIn, fieldsOf, oneLine } from "./reported-values.ts";

/** The event that each hook reports; undefined if its input reports none. */
const HOOKS = {
  // After a compaction, the hook runs during a turn.
  SessionStart: ({ source }: Fields) => (source === "compact" ? undefined : "started"),
  SessionEnd: () => "resting",
  UserPromptSubmit: () => "prompted",
  PreToolUse: toolEvent,
  PermissionRequest: () => "asking",
  PostToolUse: () => "tool",
  Notification: (input: Fields) => (ASKING.has(String(input.notification_type)) ? "asking" : undefined),
  Stop: () => "resting",
  TeammateIdle: () => "resting",
  BeforeAgent: () => "prompted",
  BeforeTool: toolEvent,
  AfterTool: () => "tool",
  AfterAgent: () => "resting",
} as const satisfies Readonly<Record<string, (input: Fields) => HookEvent | undefined>>;

/** Tools of Claude Code, Gemini CLI and Qwen Code with which a model asks the person at its screen. */
const QUESTION_TOOLS: ReadonlySet<unknown> = new Set(["AskUserQuestion", "ask_user", "ask_user_question"]);

function toolEvent({ tool_name }: Fields): "asking" | "tool" {
  return QUESTION_TOOLS.has(tool_name) ? "asking" : "tool";
}

/** Names of hooks: those of Claude Code, which Codex and Qwen use too, and those of Gemini CLI. */
type HookName = keyof typeof HOOKS;
export const HOOK_NAMES = Object.keys(HOOKS) as HookName[];

/** Notification types with which Claude Code and Gemini CLI ask for permission on their own screens. */
const ASKING: ReadonlySet<string> = new Set(["permission_prompt", "ToolPermission", "elicitation_dialog"]);

export interface HookReport extends Pick<HookRecord, "event" | "conversation" | "transcript" | "detail"> {
  /** The last text of the turn that ends. */
  readonly lastWords?: string;
}

/**
 * Returns the report of a hook; undefined if it reports no state.
 * @param text the hook's input; if it is cut off, only the hook's name counts. Hostile: it contains text of a model
 */
export function reportOf(hook: HookName, text: string): HookReport | undefined {
  const input = fieldsIn(text);
  const event = HOOKS[hook](input);
  if (event === undefined) return undefined;
  const { session_id: conversation, transcript_path: transcript } = input;
  const detail = detailOf(event, input);
  const lastWords = event === "resting" ? lastWordsIn(wordsOf(input), transcript) : "";
  return {
    event,
    ...(typeof conversation === "string" && { conversation }),
    ...(typeof transcript === "string" && { transcript }),
    ...(detail !== "" && { detail }),
    ...(lastWords !== "" && { lastWords }),
  };
}

function detailOf(event: HookEvent, { tool_name, tool_input, message }: Fields): string {
  if (event === "asking" && typeof message === "string") return oneLine(message);
  if ((event !== "tool" && event !== "asking") || typeof tool_name !== "string") return "";
  const { command, file_path, pattern, url, description, questions } = fieldsOf(tool_input);
  const { question } = fieldsOf(Array.isArray(questions) ? questions[0] : undefined);
  const what = [command, file_path, pattern, url, description, question].find(
    (one) => typeof one === "string",
  );
  return oneLine(what === undefined ? tool_name : `${tool_name}: ${what}`);
}

/** Returns the turn's last text: claude (2.1.150 and newer) and Codex name it `last_assistant_message`, Gemini CLI `prompt_response`. */
function wordsOf({ last_assistant_message, prompt_response }: Fields): string {
  const text = [last_assistant_message, prompt_response].find((one) => typeof one === "string");
  return String(text ?? "");
}
