import { expect, it } from "vitest";
import { ToolCalls } from "../../../../src/adapter/acp/tool-calls.ts";
import { adapterSchema } from "../../../../src/adapter/adapter-schema.ts";

const ADAPTER = { ...adapterSchema.parse({ channel: "acp", command: "fake" }), id: "fake" };

/** Returns the calls of a prompt, and their reported starts and ends. */
function reported(): { readonly calls: ToolCalls; readonly seen: string[] } {
  const seen: string[] = [];
  const calls = new ToolCalls(
    { adapter: ADAPTER, cwd: "/" },
    {
      toolStarted: ({ id }) => void seen.push(`${id} started`),
      toolEnded: ({ id }) => void seen.push(`${id} ended`),
    },
  );
  return { calls, seen };
}

it("ToolCalls › reports no update of a call that has ended", () => {
  const { calls, seen } = reported();
  const update = { sessionUpdate: "tool_call_update", toolCallId: "a", title: "read" };
  expect(calls.report({ ...update, sessionUpdate: "tool_call" }, "in_progress")).toBe(true);
  expect(calls.report(update, "completed")).toBe(false);
  expect(calls.report(update, undefined)).toBe(false);
  expect(calls.report(update, "completed")).toBe(false);
  expect(seen).toEqual(["a started", "a ended"]);
});

it("ToolCalls › reports a new call that has the id of one that has ended", () => {
  const { calls, seen } = reported();
  const call = { sessionUpdate: "tool_call", toolCallId: "a", title: "read" };
  expect(calls.report(call, "completed")).toBe(true);
  expect(calls.report(call, "completed")).toBe(true);
  expect(seen).toEqual(["a started", "a ended", "a started", "a ended"]);
});
