import { expect, test } from "vitest";
import { reportOf } from "../../../src/adapter/hook-report.ts";

const common = { session_id: "s", transcript_path: "/t" };
const from = { conversation: "s", transcript: "/t" };

test.each<[string, Parameters<typeof reportOf>[0], object, object | undefined]>([
  ["a session start", "SessionStart", { source: "startup" }, { event: "started", ...from }],
  ["nothing after a compaction", "SessionStart", { source: "compact" }, undefined],
  [
    "a tool, on one line",
    "PreToolUse",
    { tool_name: "Bash", tool_input: { command: "a\n\u001b[31mb" } },
    { event: "tool", detail: "Bash: a b", ...from },
  ],
  [
    "a question on its screen",
    "Notification",
    { notification_type: "permission_prompt", message: "may it" },
    { event: "asking", detail: "may it", ...from },
  ],
  ["nothing for another notification", "Notification", { notification_type: "idle_prompt" }, undefined],
  [
    "the end of a turn with its last words",
    "Stop",
    { last_assistant_message: "done" },
    { event: "resting", lastWords: "done", ...from },
  ],
  [
    "a question in a dialog",
    "PermissionRequest",
    { tool_name: "Bash", tool_input: { command: "ls" } },
    { event: "asking", detail: "Bash: ls", ...from },
  ],
  [
    "a question of its model",
    "PreToolUse",
    { tool_name: "AskUserQuestion", tool_input: { questions: [{ question: "Which colour?" }] } },
    { event: "asking", detail: "AskUserQuestion: Which colour?", ...from },
  ],
  ["a prompt of Gemini", "BeforeAgent", { prompt: "hi" }, { event: "prompted", ...from }],
  [
    "a tool of Gemini",
    "BeforeTool",
    { tool_name: "read_file", tool_input: { file_path: "/f" } },
    { event: "tool", detail: "read_file: /f", ...from },
  ],
  [
    "a question of Gemini",
    "Notification",
    { notification_type: "ToolPermission", message: "may it" },
    { event: "asking", detail: "may it", ...from },
  ],
  [
    "the end of a Gemini turn with its last words",
    "AfterAgent",
    { prompt: "hi", prompt_response: " done\u001b[31m\n" },
    { event: "resting", lastWords: "done", ...from },
  ],
])("a hook › reports %s", (_what, hook, input, expected) => {
  expect(reportOf(hook, JSON.stringify({ ...common, ...input }))).toEqual(expected);
});

test("a hook › reports long last words in full; very long last words are cut, with the file that has the rest", () => {
  const wordsOf = (text: string, transcript?: string) =>
    reportOf("Stop", JSON.stringify({ last_assistant_message: text, transcript_path: transcript }))
      ?.lastWords;
  const long = "x".repeat(30_000);
  expect(wordsOf(long, "/t")).toBe(long);
  expect(wordsOf(`${long}yy`, "/t\u001b[2J\n")).toBe(`${long}\n… (2 more characters. All of it is in /t)`);
  expect(wordsOf(`${long}y`)).toBe(`${long}\n… (1 more character)`);
});

test("a hook › reports its event if its input is cut off", () => {
  expect(reportOf("PostToolUse", '{"session_id":"s","tool_response":"xxx')).toEqual({ event: "tool" });
});
