import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";
import type { Socket } from "node:net";
import { type Frame, FrameReader, frameOf, OPCODES } from "./web-socket-frames.ts";

interface WebSocketEvents {
  /** A whole text message. */
  message(text: string): void;
  /** Called once; nothing follows. @param why undefined: this side closed it */
  closed(why: string | undefined): void;
}

interface WebSocketOptions {
  /** Path of the Unix socket. */
  readonly path: string;
  /** Maximum bytes of a message; a longer one closes the connection. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface WebSocketClient {
  send(text: string): void;
  close(): void;
}

/** RFC 6455, section 1.3. */
const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Opens a WebSocket over a Unix socket: Node's own client reaches only TCP. @throws Error if the server does not accept it */
export async function connectWebSocket(
  { path, maxBytes, signal }: WebSocketOptions,
  events: WebSocketEvents,
): Promise<WebSocketClient> {
  const key = randomBytes(16).toString("base64");
  const { socket, head } = await upgrade(path, key, signal);
  return new Client(socket, head, maxBytes, events);
}

function upgrade(
  socketPath: string,
  key: string,
  signal: AbortSignal,
): Promise<{ readonly socket: Socket; readonly head: Buffer }> {
  return new Promise((resolve, reject) => {
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": key,
    };
    const call = request({ socketPath, path: "/", headers, signal });
    call.once("error", reject);
    call.once("response", (response) => {
      response.resume();
      reject(new Error(`its socket answered with status ${response.statusCode}`));
    });
    call.once("upgrade", ({ headers: answered }, socket, head) => {
      const accept = createHash("sha1").update(`${key}${ACCEPT_GUID}`).digest("base64");
      if (answered["sec-websocket-accept"] === accept) resolve({ socket: socket as Socket, head });
      else {
        socket.destroy();
        reject(new Error("its socket is not a WebSocket"));
      }
    });
    call.end();
  });
}

class Client implements WebSocketClient {
  readonly #socket: Socket;
  readonly #events: WebSocketEvents;
  readonly #reader: FrameReader;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;
  #isClosed = false;

  constructor(socket: Socket, head: Buffer, maxBytes: number, events: WebSocketEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#maxBytes = maxBytes;
    this.#reader = new FrameReader(maxBytes);
    // The stream reports them first, and only when the caller has its client.
    if (head.length > 0) socket.unshift(head);
    socket.on("data", (bytes: Buffer) => this.#onBytes(bytes));
    socket.on("error", (error) => this.#close(error.message));
    socket.on("close", () => this.#close("the connection was closed"));
  }

  send(text: string): void {
    if (!this.#isClosed) this.#socket.write(frameOf(OPCODES.text, Buffer.from(text), randomBytes(4)));
  }

  close(): void {
    if (!this.#isClosed) this.#socket.write(frameOf(OPCODES.close, Buffer.alloc(0), randomBytes(4)));
    this.#close(undefined);
  }

  #close(why: string | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroySoon();
    this.#events.closed(why);
  }

  #onBytes(bytes: Buffer): void {
    try {
      for (const frame of this.#reader.read(bytes)) {
        if (this.#isClosed) return;
        this.#onFrame(frame);
      }
    } catch (error) {
      this.#close(error instanceof Error ? error.message : String(error));
    }
  }

  #onFrame({ opcode, isFinal, payload }: Frame): void {
    if (opcode === OPCODES.ping) this.#socket.write(frameOf(OPCODES.pong, payload, randomBytes(4)));
    else if (opcode === OPCODES.close) this.#close("the other side closed the connection");
    else if (opcode === OPCODES.text || opcode === OPCODES.continuation) {
      this.#size += payload.length;
      if (this.#size > this.#maxBytes) throw new Error("a message is too long");
      this.#parts.push(payload);
      if (!isFinal) return;
      const text = Buffer.concat(this.#parts).toString("utf8");
      this.#parts = [];
      this.#size = 0;
      this.#events.message(text);
    }
  }
}
