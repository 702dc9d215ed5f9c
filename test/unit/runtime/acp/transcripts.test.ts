import { client } from "@agentclientprotocol/sdk";
import { describe, expect, it, vi } from "vitest";
import { readTranscript } from "../../../support/acp/transcript.ts";

/** Feeds recorded messages of the agent to the client of the SDK, which checks each of them. @returns what it has taken */
async function takenBySdk(lines: readonly string[]) {
  const taken = { updates: [] as string[], requests: 0 };
  const messages = lines.flatMap((line) => (line.startsWith("← ") ? [JSON.parse(line.slice(2))] : []));
  const readable = new ReadableStream({
    start(controller) {
      for (const message of messages) if ("method" in message) controller.enqueue(message);
      controller.close();
    },
  });
  const connection = client({ name: "test" })
    .onNotification("session/update", ({ params }) => void taken.updates.push(params.update.sessionUpdate))
    .onRequest("session/request_permission", () => {
      taken.requests += 1;
      return { outcome: { outcome: "cancelled" } };
    })
    .connect({ readable, writable: new WritableStream() });
  await connection.closed;
  return { taken, messages };
}

describe("the recorded session of the SDK's client", () => {
  it("is valid for the SDK, and shows plan, calls, a request and usage", async () => {
    const problem = vi.spyOn(console, "error");
    const { taken, messages } = await takenBySdk(readTranscript("sdk-client.log"));
    expect(problem).not.toHaveBeenCalled();
    expect(taken.updates).toHaveLength(messages.filter(({ method }) => method === "session/update").length);
    expect(taken.requests).toBe(1);
    for (const kind of ["plan", "tool_call", "tool_call_update", "agent_message_chunk", "usage_update"])
      expect(taken.updates).toContain(kind);
  });
});

it.each(["sdk-client.log", "acpx.log"])("%s › names no path of a machine", (name) => {
  const text = readTranscript(name).join("\n");
  expect(text).not.toMatch(/\/(tmp|work|root|home|dev|usr)\//);
});

it("acpx.log › shows a whole team in acpx: plan, the teammate's change, and two prompts that end", () => {
  const text = readTranscript("acpx.log").join("\n");
  for (const words of ["One teammate is enough.", "The file is made.", "Nothing is left to do."])
    expect(text).toContain(words);
  expect(text.match(/\[done\] end_turn/g)).toHaveLength(2);
});
