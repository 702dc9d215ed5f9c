import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTranscript } from "../../../../src/agent/conversation/transcript.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

test("openTranscript › keeps the next message if a write was cut off in the middle of a line", () => {
  const path = join(temporaryDirectory(), "s1.jsonl");
  const transcript = openTranscript(path, { sessionId: "s1" });
  transcript.append(userMessage("first"));
  appendFileSync(path, '{"type":"user","mess');
  transcript.append(userMessage("second"));
  const { messages } = openTranscript(path, { sessionId: "s1" }).restored;
  expect(messages.map(({ content }) => content)).toEqual([
    [{ type: "text", text: "first" }],
    [{ type: "text", text: "second" }],
  ]);
});

test("openTranscript › says how many lines it leaves out, not counting lines of a newer version and an incomplete last line", () => {
  const path = join(temporaryDirectory(), "s1.jsonl");
  const { append } = openTranscript(path, { sessionId: "s1" });
  for (const text of ["first", "second", "third"]) append(userMessage(text));
  appendFileSync(path, '{"type":"newer","text":"?"}\n{"type":"user","mess');
  expect(openTranscript(path, { sessionId: "s1" }).restored.damage).toBeUndefined();
  const lines = readFileSync(path, "utf8").split("\n");
  const damaged = lines.map((line, i) => (i === 1 ? "\0".repeat(20) : i === 3 ? '{"type":"user"}' : line));
  writeFileSync(path, damaged.join("\n"));
  const { messages, damage } = openTranscript(path, { sessionId: "s1" }).restored;
  expect(messages).toEqual([userMessage("second").message]);
  expect(damage).toBe(`2 lines of the conversation cannot be read, and are left out: ${path}`);
});

test("openTranscript › reports an empty file, and throws if the path is not a file", () => {
  const path = join(temporaryDirectory(), "s1.jsonl");
  writeFileSync(path, "");
  expect(openTranscript(path, { sessionId: "s1" }).restored.damage).toContain("is empty");
  const directory = join(temporaryDirectory(), "s2.jsonl");
  mkdirSync(directory);
  expect(() => openTranscript(directory, { sessionId: "s2" })).toThrow(`${directory} cannot be read`);
});

function userMessage(text: string) {
  return { type: "user", message: { role: "user", content: [{ type: "text", text }] } } as const;
}
