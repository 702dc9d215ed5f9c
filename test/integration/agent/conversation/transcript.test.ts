import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTranscript } from "../../../../src/agent/conversation/transcript.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

test("openTranscript › keeps the next message if a write was cut off in the middle of a line", () => {
  const path = join(temporaryDirectory(), "s1.jsonl");
  const transcript = openTranscript(path, { sessionId: "s1" });
  transcript.append(said("first"));
  appendFileSync(path, '{"type":"user","mess');
  transcript.append(said("second"));
  const { messages } = openTranscript(path, { sessionId: "s1" }).restored;
  expect(messages.map(({ content }) => content)).toEqual([
    [{ type: "text", text: "first" }],
    [{ type: "text", text: "second" }],
  ]);
});

function said(text: string) {
  return { type: "user", message: { role: "user", content: [{ type: "text", text }] } } as const;
}
