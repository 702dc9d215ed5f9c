import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ClaudeUsage } from "../../../../src/adapter/inbox/claude-usage.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const START = Date.parse("2026-11-27T10:00:00Z");

/** An entry of claude 2.1.332, without the fields that nothing reads. */
function entry(id: string, [input, output, cacheRead = 0, cacheWrite = 0]: readonly number[], minute = 1) {
  const usage = {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  };
  const message = { id, model: "fake", content: [{ type: "text", text: "x" }], usage };
  const timestamp = new Date(START + minute * 60_000).toISOString();
  return `${JSON.stringify({ type: "assistant", timestamp, uuid: `${id}-${output}`, message })}\n`;
}

function conversation() {
  const directory = temporaryDirectory();
  const transcript = join(directory, "one.jsonl");
  writeFileSync(transcript, "");
  return { directory, transcript, usage: new ClaudeUsage(START) };
}

test("ClaudeUsage › counts each message once, with its largest count, and returns only new usage", () => {
  const { transcript, usage } = conversation();
  expect(usage.take(transcript)).toBeUndefined();
  const whole = entry("b", [1, 1]);
  appendFileSync(transcript, entry("a", [3, 1, 100, 20]) + entry("a", [3, 9, 100, 20]) + whole.slice(0, 40));
  expect(usage.take(transcript)).toEqual({ input: 3, output: 9, cacheRead: 100, cacheWrite: 20 });
  appendFileSync(transcript, whole.slice(40) + entry("a", [3, 1, 100, 20]) + entry("a", [3, 9, 100, 20]));
  expect(usage.take(transcript)).toEqual({ input: 1, output: 1, cacheRead: 0, cacheWrite: 0 });
  expect(usage.take(transcript)).toBeUndefined();
});

test("ClaudeUsage › leaves out what an earlier process used", () => {
  const { transcript, usage } = conversation();
  appendFileSync(transcript, entry("a", [5, 5], -1) + entry("b", [1, 2]));
  expect(usage.take(transcript)).toMatchObject({ input: 1, output: 2 });
});

test("ClaudeUsage › counts subagents and another conversation", () => {
  const { directory, transcript, usage } = conversation();
  const subagents = join(directory, "one", "subagents");
  mkdirSync(join(subagents, "flow"), { recursive: true });
  writeFileSync(join(subagents, "agent-1.jsonl"), entry("s", [1, 1]));
  writeFileSync(join(subagents, "flow", "agent-2.jsonl"), entry("f", [10, 10]));
  expect(usage.take(transcript)).toMatchObject({ input: 11, output: 11 });
  const other = join(directory, "two.jsonl");
  writeFileSync(other, entry("t", [2, 2]));
  expect(usage.take(other)).toMatchObject({ input: 2, output: 2 });
});

test("ClaudeUsage › counts the other files when one becomes unreadable", () => {
  const { directory, transcript, usage } = conversation();
  const subagents = join(directory, "one", "subagents");
  mkdirSync(subagents, { recursive: true });
  writeFileSync(join(subagents, "agent-1.jsonl"), entry("s", [1, 1]));
  expect(usage.take(transcript)).toMatchObject({ input: 1, output: 1 });
  rmSync(transcript);
  mkdirSync(transcript);
  appendFileSync(join(subagents, "agent-1.jsonl"), entry("t", [2, 2]));
  expect(usage.take(transcript)).toMatchObject({ input: 2, output: 2 });
});

test("ClaudeUsage › counts nothing in hostile files", () => {
  const { directory, transcript, usage } = conversation();
  appendFileSync(
    transcript,
    `"assistant"\n{"type":"assistant"}\n${entry("n", [-5, Number.POSITIVE_INFINITY])}[${"[".repeat(5_000)}"assistant"\n`,
  );
  symlinkSync("/dev/zero", join(directory, "zero.jsonl"));
  const paths = [transcript, directory, join(directory, "zero.jsonl"), "/dev/zero", "\0", ""];
  expect(paths.map((path) => usage.take(path))).toEqual(paths.map(() => undefined));
});
