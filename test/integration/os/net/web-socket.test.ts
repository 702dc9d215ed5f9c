import { createHash } from "node:crypto";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectWebSocket, type WebSocketClient } from "../../../../src/os/net/web-socket.ts";
import { frameOf, OPCODES } from "../../../../src/os/net/web-socket-frames.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

/** Listens on a socket, and answers each client with the whole text at once. @returns the path of the socket */
async function serverThatSends(text: string): Promise<string> {
  const path = join(temporaryDirectory(), "s");
  const server = createServer((socket) => {
    socket.once("data", (bytes) => {
      const key = /^sec-websocket-key: (\S+)/im.exec(bytes.toString())?.[1];
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket"];
      const answer = [...lines, `Sec-WebSocket-Accept: ${accept}`, "", ""].join("\r\n");
      socket.write(Buffer.concat([Buffer.from(answer), frameOf(OPCODES.text, Buffer.from(text), undefined)]));
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return path;
}

test("connectWebSocket › reads a long message that begins in the answer to its request", async () => {
  // Longer than one read of the socket.
  const text = "x".repeat(200_000);
  const { signal } = new AbortController();
  const options = { path: await serverThatSends(text), maxBytes: 1_000_000, signal };
  let client: WebSocketClient | undefined;
  onTestFinished(() => client?.close());
  const message = await new Promise<string>((resolve, reject) => {
    const closed = (why: string | undefined) => reject(new Error(why));
    connectWebSocket(options, { message: resolve, closed }).then((opened) => {
      client = opened;
    }, reject);
  });
  expect(message).toBe(text);
});
