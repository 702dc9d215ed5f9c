import { messageOf } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { connectWebSocket, type WebSocketClient } from "../../os/net/web-socket.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { type Fields, fieldsIn, fieldsOf } from "../reported-values.ts";

interface RpcEvents {
  notified(method: string, params: Fields): void;
  /** A request of the server; `answer` answers it. It may stay without an answer. */
  asked(id: RequestId, method: string, params: Fields): void;
  closed(why: string): void;
}

export type RequestId = string | number;

/** Maximum size of a message from a server, in bytes. */
const MAX_MESSAGE = 64 * 1024 * 1024;
/** Milliseconds between attempts to connect to a starting server. */
const RETRY_MS = 50;

interface Waiting {
  readonly resolve: (result: Fields) => void;
  readonly reject: (error: Error) => void;
}

/** Codex's JSON-RPC, whose messages lack the version field, over a WebSocket on a Unix socket. */
export class Rpc {
  readonly #events: RpcEvents;
  readonly #waiting = new Map<number, Waiting>();
  #socket: WebSocketClient | undefined;
  #lastId = 0;

  constructor(events: RpcEvents) {
    this.#events = events;
  }

  /** Connects to a server that may still be starting, until the signal aborts. */
  async connect(path: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      try {
        this.#socket = await connectWebSocket(
          { path, maxBytes: MAX_MESSAGE, signal },
          { message: (text) => this.#onMessage(text), closed: (why) => this.#onClosed(why) },
        );
        return;
      } catch (error) {
        const { code } = fieldsOf(error);
        if (code !== "ENOENT" && code !== "ECONNREFUSED") throw error;
        await pause(RETRY_MS, signal);
      }
    }
  }

  request(method: string, params: Fields): Promise<Fields> {
    const socket = this.#socket;
    if (socket === undefined) return Promise.reject(new Error("it is not running"));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify(wellFormed({ id, method, params })));
    });
  }

  notify(method: string): void {
    this.#socket?.send(JSON.stringify({ method }));
  }

  answer(id: RequestId, result: Fields): void {
    this.#socket?.send(JSON.stringify(wellFormed({ id, result })));
  }

  close(): void {
    this.#socket?.close();
  }

  #onClosed(why: string | undefined): void {
    this.#socket = undefined;
    for (const { reject } of this.#waiting.values()) reject(new Error("its connection was closed"));
    this.#waiting.clear();
    if (why !== undefined) this.#events.closed(why);
  }

  #onMessage(text: string): void {
    const { id, method, params, result, error } = fieldsIn(text);
    if (typeof method === "string") {
      if (isId(id)) this.#events.asked(id, method, fieldsOf(params));
      else this.#events.notified(method, fieldsOf(params));
      return;
    }
    if (typeof id !== "number") return;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(fieldsOf(result));
    else waiting?.reject(new Error(messageOf(fieldsOf(error).message ?? error)));
  }
}

function isId(id: unknown): id is RequestId {
  return typeof id === "number" || typeof id === "string";
}
