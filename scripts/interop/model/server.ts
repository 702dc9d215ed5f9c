import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./anthropic.ts";
import type { Ask, Dialect, Json, Piece, Reply } from "./ask.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import { replyTo } from "./script.ts";

const DIALECTS: readonly Dialect[] = [anthropic, responses, chat, gemini];
/** Milliseconds after which a request without an answer is closed. */
const MAX_STAY = 180_000;

export interface SeenRequest {
  readonly path: string;
  readonly ask: Ask;
  /** The request as JSON. */
  readonly text: string;
  readonly reply: Reply;
}

/** A model server on loopback that knows four interfaces and plays the script in the newest prompt. */
export interface FakeModel {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Returns whether a request that offers tools contains this text. */
  got(text: string): boolean;
  /** Returns whether a turn has ended with this text. */
  said(text: string): boolean;
  /** Plays a script for every prompt that contains a text. */
  learn(text: string, script: string): void;
  close(): void;
}

export async function startFakeModel(): Promise<FakeModel> {
  const requests: SeenRequest[] = [];
  const scripts = new Map<string, string>();
  const server = createServer((request, response) => {
    answer(request, response, { requests, scripts }).catch((error) => {
      console.error(`The fake model failed: ${error instanceof Error ? error.stack : error}`);
      response.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    got: (text) => requests.some((request) => request.ask.tools.length > 0 && request.text.includes(text)),
    said: (text) => requests.some(({ reply }) => reply.kind === "say" && reply.text.includes(text)),
    learn: (text, script) => scripts.set(text, script),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Played {
  readonly requests: SeenRequest[];
  /** Scripts, by a text that a prompt contains. */
  readonly scripts: ReadonlyMap<string, string>;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { requests, scripts }: Played,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const path = request.url ?? "";
  const dialect = DIALECTS.find((one) => one.takes(path.split("?")[0] ?? ""));
  if (request.method !== "POST" || dialect === undefined) {
    response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"not found"}}');
    return;
  }
  const ask = dialect.parse(JSON.parse(text) as Json, path);
  const pieces = ask.pieces.map((piece) => withScript(piece, scripts));
  const reply = replyTo({ ...ask, pieces });
  requests.push({ path, ask, text, reply });
  const id = `${requests.length}`;
  if (reply.kind === "fail") {
    const error = { type: "error", error: { type: "api_error", code: reply.status, message: reply.message } };
    response.writeHead(reply.status, { "content-type": "application/json" }).end(JSON.stringify(error));
  } else if (reply.kind === "stay") {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    setTimeout(() => response.destroy(), MAX_STAY).unref();
  } else if (!ask.streams) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(dialect.whole(reply, id)));
  } else {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(dialect.events(reply, id).join(""));
  }
}

/** Replaces a prompt that contains the text of a script with that script; of several, the last text counts. */
function withScript(piece: Piece, scripts: ReadonlyMap<string, string>): Piece {
  if (piece.kind !== "text") return piece;
  const found = [...scripts].map(([text, script]) => ({ at: piece.text.lastIndexOf(text), script }));
  const last = found.sort((a, b) => a.at - b.at).at(-1);
  return last === undefined || last.at < 0 ? piece : { ...piece, text: last.script };
}
