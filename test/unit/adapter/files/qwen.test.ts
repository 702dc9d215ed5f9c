import { expect, test } from "vitest";
import { qwenRequest } from "../../../../src/adapter/files/qwen-requests.ts";
import { spentOf, submittedText } from "../../../../src/adapter/files/qwen-texts.ts";
import { failureIn, isSubmission } from "../../../../src/adapter/gemini-texts.ts";
import { requestOf } from "../../../../src/adapter/gemini-tools.ts";

test.each<[string, object, string, object]>([
  ["run_shell_command", { command: "ls" }, "Bash", { kind: "command", command: "ls" }],
  [
    "run_shell_command",
    { command: "ls", directory: "/other" },
    "Bash",
    { kind: "command", command: "cd '/other' && ls" },
  ],
  ["write_file", { file_path: "a", content: "x" }, "Edit", { kind: "write", paths: ["/repo/a"] }],
  ["edit", { file_path: "/b", old_string: "x", new_string: "y" }, "Edit", { kind: "write", paths: ["/b"] }],
  ["read_file", { absolute_path: "/c" }, "Read", { kind: "read", paths: ["/c"] }],
  ["grep_search", { pattern: "x" }, "Read", { kind: "read", paths: ["/repo"] }],
  ["web_fetch", { url: "https://example.com/x" }, "WebFetch", { kind: "host", host: "example.com" }],
  ["run_shell_command", { command: 5 }, "run_shell_command", { kind: "external" }],
  ["write_file", {}, "write_file", { kind: "external" }],
  ["mcp__docs__read", {}, "mcp__docs__read", { kind: "external" }],
])("requestOf understands %s with %j as %s", (tool, input, name, access) => {
  const request = requestOf({ tool, input: input as Record<string, unknown> }, "/repo");
  expect([request.tool, request.access]).toEqual([name, access]);
});

test("qwenRequest reads a request, and nothing else", () => {
  const request = { subtype: "can_use_tool", tool_name: "edit", tool_use_id: "call-1", input: { a: 1 } };
  expect(qwenRequest({ request_id: "r", request })).toEqual({
    id: "r",
    callId: "call-1",
    tool: "edit",
    input: { a: 1 },
  });
  for (const odd of [{}, { request_id: 5, request }, { request_id: "r", request: { subtype: "other" } }])
    expect(qwenRequest(odd)).toBeUndefined();
});

test("submittedText begins with a line that exits a shell, and escapes references to files", () => {
  const text = submittedText("/quit\n@a b@c\t@d");
  expect(text).toMatch(/^exit #[^\n]*\n\/quit\n\\@a b@c\t\\@d$/);
  expect(text).not.toMatch(/(^|\s)@/);
});

test("isSubmission recognizes a text that was trimmed or joined, and no other text", () => {
  const sent = submittedText("say: one\n\nsay: two\n");
  expect(isSubmission(`typed\n\n${sent.trim()}`, sent)).toBe(true);
  expect(isSubmission("say: one", sent)).toBe(false);
});

test("failureIn and spentOf read what Qwen reports about an answer", () => {
  expect(failureIn("\n[API Error: 400 bad]\n")).toBe("API Error: 400 bad");
  expect(failureIn("see [API Error: 400 bad]")).toBeUndefined();
  expect(spentOf({ input_tokens: 0, output_tokens: 0 })).toBeUndefined();
  expect(spentOf({ input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 40 })?.usage).toEqual({
    input: 60,
    output: 7,
    cacheRead: 40,
    cacheWrite: 0,
  });
});
