import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of the Messages API whose answers are one endless stream of tokens. */
export interface TokenStream {
  readonly url: string;
  /** The tokens sent so far. */
  readonly sent: number;
  close(): void;
}

/** Milliseconds between two checks of how many tokens are due. */
const TICK_MS = 5;

/**
 * Starts a server on loopback. Each request is answered with the words of a text, again and again.
 * @param perSecond tokens a second, each in its own event
 */
export async function tokenStream(text: string, perSecond: number): Promise<TokenStream> {
  const words = text.match(/\s*\S+\n*/g) ?? [];
  const timers = new Set<NodeJS.Timeout>();
  let sent = 0;
  const stream = (response: ServerResponse): void => {
    const begin = performance.now();
    let next = 0;
    const timer = setInterval(() => {
      const due = ((performance.now() - begin) / 1000) * perSecond;
      for (; next < due; next += 1) {
        const delta = { type: "text_delta", text: words[next % words.length] };
        send(response, { type: "content_block_delta", index: 0, delta });
        sent += 1;
      }
    }, TICK_MS);
    timers.add(timer);
    response.once("close", () => clearInterval(timer));
  };
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      response.socket?.setNoDelay(true);
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of START) send(response, event);
      stream(response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sent() {
      return sent;
    },
    close: () => {
      for (const timer of timers) clearInterval(timer);
      server.closeAllConnections();
      server.close();
    },
  };
}

function send(response: ServerResponse, event: Readonly<Record<string, unknown>>): void {
  response.write(`event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`);
}

const message = { id: "msg_1", type: "message", role: "assistant", model: "bench", content: [] };
const START = [
  {
    type: "message_start",
    message: { ...message, stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
];
