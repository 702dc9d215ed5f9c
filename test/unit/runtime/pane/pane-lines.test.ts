import { expect, test } from "vitest";
import type { AgentEvent } from "../../../../src/agent/events.ts";
import { paneLines } from "../../../../src/runtime/pane/pane-lines.ts";

test("paneLines › shows the end of a person's command, even if teams could not end it", async () => {
  const events: AgentEvent[] = [];
  const view = { event: (event: AgentEvent) => void events.push(event), typed: () => undefined };
  const parts = { ref: {}, name: "dev", plain: true, width: () => 80, own: {}, worker: {}, view };
  const call = { io: { env: {}, cwd: "/" } };
  const runCommand = () => Promise.reject(new Error("the process table cannot be read"));
  const lines = paneLines({ ...parts, call, runCommand } as unknown as Parameters<typeof paneLines>[0]);
  await lines.handle("!sleep 3", 0);
  expect(events).toMatchObject([
    { type: "tool_started", id: "shell-1", tool: "!", summary: "sleep 3" },
    {
      type: "tool_ended",
      id: "shell-1",
      isError: true,
      content: "(it may still run: the process table cannot be read)",
    },
  ]);
  expect(lines.interrupt()).toBe(false);
});
