import { expect, test } from "vitest";
import type { ChannelTurnEnd } from "../../../../src/adapter/channel.ts";
import { QwenPermissions } from "../../../../src/adapter/files/qwen-permissions.ts";
import { QwenTurns } from "../../../../src/adapter/files/qwen-turns.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const fail = (): never => {
  throw new Error("no space left");
};
const none = (): void => undefined;

test("QwenPermissions › notes that the answer to a call of a team tool was not written", async () => {
  const notes: string[] = [];
  const events = {
    ask: async () => ({ allowed: false }),
    blocked: none,
    note: (text: string) => void notes.push(text),
  };
  const permissions = new QwenPermissions({ cwd: "/repo", events, answer: fail, refused: none });
  const request = { subtype: "can_use_tool", tool_name: "mcp__teams__TaskList", tool_use_id: "c", input: {} };
  permissions.event({ type: "control_request", request_id: "r", request });
  await eventually("the note", () => notes.length > 0);
  expect(notes).toEqual(["a request was not answered (no space left); answer it in its pane"]);
});

test("QwenTurns › fails a turn when the reasons for its refused calls cannot be written", async () => {
  const ends: ChannelTurnEnd[] = [];
  const events = {
    ...{ turnStarted: none, text: none, toolStarted: none, toolEnded: none, spent: none },
    turnEnded: (end: ChannelTurnEnd) => void ends.push(end),
  };
  const turns = new QwenTurns({ cwd: "/repo", events, resume: fail, closed: none });
  const taken = turns.expect("list it", true);
  turns.event({ type: "user", message: { content: [{ type: "text", text: "list it" }] } });
  await taken;
  turns.event({ type: "stream_event", event: { type: "message_start" } });
  const call = { type: "tool_use", id: "c", name: "run_shell_command", input: { command: "ls" } };
  turns.event({ type: "assistant", message: { content: [call] } });
  turns.refused("c", "Bash(ls): no");
  turns.cancelled("c");
  expect(ends).toEqual([
    { outcome: "failed", failure: "the reasons for refusals did not reach its model: no space left" },
  ]);
  expect(turns.isRunning).toBe(false);
});
