import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { wellFormedStream } from "../../../../src/adapter/acp/well-formed-stream.ts";

const message = (text: string): AnyMessage => ({ jsonrpc: "2.0", method: "m", params: { [text]: [text] } });

function streamTo(write: (message: AnyMessage) => void): Stream {
  return { readable: new ReadableStream<AnyMessage>(), writable: new WritableStream<AnyMessage>({ write }) };
}

it("wellFormedStream › replaces a lone surrogate in each message, and can be closed", async () => {
  const sent: AnyMessage[] = [];
  const writer = wellFormedStream(streamTo((one) => void sent.push(one))).writable.getWriter();
  await writer.write(message("a\ud83d"));
  await writer.write(message("🚀"));
  await writer.close();
  expect(sent).toEqual([message("a\ufffd"), message("🚀")]);
});

it("wellFormedStream › fails when the underlying stream fails", async () => {
  const broken = streamTo(() => {
    throw new Error("the pipe is closed");
  });
  const writer = wellFormedStream(broken).writable.getWriter();
  writer.closed.catch(() => undefined);
  await expect(writer.write(message("a"))).rejects.toThrow("the pipe is closed");
});
