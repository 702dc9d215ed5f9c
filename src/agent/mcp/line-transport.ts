import type { JSONRPCMessage, McpServerFactory, Transport } from "@modelcontextprotocol/server";
import { messageOf } from "../../errors.ts";
import { after } from "../../os/clock.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { LineSplitter } from "./lines.ts";

/** Maximum bytes of a line from a client: the longest message, escaped, is far shorter. */
const MAX_LINE = 4 * 1024 * 1024;
/** Maximum characters of answers that the client has not read. Above it, no more requests of the client are read. */
const MAX_WAITING = 4 * 1024 * 1024;
/**
 * Time limit in milliseconds for running calls after the end of the input, so that a requested change is answered, and for a client to
 * read the last answers after a signal.
 */
const LAST_ANSWERS_MS = 2_000;

/** The only version of the protocol with batches. */
export const BATCH_VERSION = "2025-03-26";
/** Maximum messages of a batch. Over HTTP, the package has the same limit. */
export const MAX_BATCH = 100;

/** JSON-RPC's codes for lines that are not a request. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
/** The request for change notifications in the newer protocol. */
const LISTEN = "subscriptions/listen";
/** Maximum open requests of this kind. */
const MAX_SUBSCRIPTIONS = 16;

type RequestId = string | number;

/** The bytes of one connection: the standard streams, or a socket. */
export interface ByteStreams {
  bytesIn(): AsyncIterable<Uint8Array>;
  /** Writes the given text; resolves after the last bytes. */
  bytesOut(bytes: AsyncIterable<Uint8Array>): Promise<void>;
}

/**
 * MCP over a byte stream. Unlike the package's own transport, it survives a line that is too long, answers an invalid message
 * instead of dropping it, and lets running calls finish when the input ends.
 */
class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly closed: Promise<void>;
  readonly #streams: ByteStreams;
  readonly #parse: (value: unknown) => JSONRPCMessage;
  readonly #signal: AbortSignal;
  readonly #onListen: () => void;
  /** Requests without an answer. */
  readonly #open = new Set<RequestId>();
  /** Whether the client began with {@link BATCH_VERSION}, which the server then accepts. */
  #hasBatches = false;
  #outbox: string[] = [];
  /** Characters that are not written yet. */
  #waiting = 0;
  #wakeWriter: () => void = () => undefined;
  #wakeReader: () => void = () => undefined;
  #isClosed = false;
  #resolveClosed: () => void = () => undefined;

  constructor(
    streams: ByteStreams,
    parse: (value: unknown) => JSONRPCMessage,
    signal: AbortSignal,
    onListen: () => void,
  ) {
    this.#streams = streams;
    this.#parse = parse;
    this.#signal = signal;
    this.#onListen = onListen;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  async start(): Promise<void> {
    this.#signal.addEventListener("abort", () => this.#leave(), { once: true });
    if (this.#signal.aborted) this.#leave();
    void this.#streams.bytesOut(this.#lines()).then(this.#resolveClosed, this.#resolveClosed);
    void this.#read();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("The connection is closed."));
    this.#write(message);
    if ("id" in message && !("method" in message) && message.id !== undefined) {
      this.#open.delete(message.id);
      this.#wakeReader();
    }
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#wakeWriter();
      this.#wakeReader();
      this.onclose?.();
    }
    return Promise.resolve();
  }

  /** Closes the connection, even if the client has gone or reads no more: the output then never ends. */
  #leave(): void {
    void this.close();
    const cancel = after(LAST_ANSWERS_MS, this.#resolveClosed);
    void this.closed.then(cancel);
  }

  async #read(): Promise<void> {
    const splitter = new LineSplitter(MAX_LINE);
    try {
      for await (const chunk of this.#streams.bytesIn()) {
        for (const line of splitter.push(chunk)) this.#receive(line);
        while (this.#waiting > MAX_WAITING && !this.#isClosed) await this.#readerWake();
        if (this.#isClosed) return;
      }
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    // An incomplete last line is not a message.
    await this.#lastAnswers();
    await this.close();
  }

  /** Waits until no request is open, for a limited time. */
  async #lastAnswers(): Promise<void> {
    let isLate = false;
    const cancel = after(LAST_ANSWERS_MS, () => {
      isLate = true;
      this.#wakeReader();
    });
    while (this.#open.size > 0 && !isLate && !this.#isClosed) await this.#readerWake();
    cancel();
  }

  /** Resolves when an answer was queued or written, or the connection is closed. */
  #readerWake(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeReader = resolve;
    });
  }

  #receive(line: string | undefined): void {
    for (const message of this.#parseLine(line)) {
      this.#note(message);
      try {
        this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(new Error(messageOf(error)));
      }
    }
  }

  /** Records the version and the open requests. A cancelled request gets no answer. */
  #note(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if (message.method === "initialize") this.#hasBatches = message.params?.protocolVersion === BATCH_VERSION;
    // This request is answered only at the end of the connection.
    if (message.method === LISTEN) this.#onListen();
    else if ("id" in message) this.#open.add(message.id);
    const cancelled = message.method === "notifications/cancelled" ? message.params?.requestId : undefined;
    if (typeof cancelled === "string" || typeof cancelled === "number") this.#open.delete(cancelled);
  }

  /** Returns the messages of a line: several for a batch. Answers an invalid line with an error. */
  #parseLine(line: string | undefined): readonly JSONRPCMessage[] {
    if (line?.trim() === "") return [];
    const value = line === undefined ? undefined : parseJson(line);
    if (value === undefined) {
      this.#refuse(
        PARSE_ERROR,
        line === undefined ? `A line is longer than ${MAX_LINE} bytes.` : "A line is not JSON.",
      );
      return [];
    }
    if (!Array.isArray(value)) return this.#parseMessage(value);
    const isAccepted = this.#hasBatches && value.length > 0 && value.length <= MAX_BATCH;
    if (isAccepted) return value.flatMap((message) => this.#parseMessage(message));
    this.#refuse(
      INVALID_REQUEST,
      this.#hasBatches
        ? `A batch must have 1 to ${MAX_BATCH} messages.`
        : `Only version ${BATCH_VERSION} has batches: send one message per line.`,
    );
    return [];
  }

  #parseMessage(value: unknown): readonly JSONRPCMessage[] {
    try {
      return [this.#parse(value)];
    } catch {
      this.#refuse(INVALID_REQUEST, "A message is not in the form of JSON-RPC 2.0.", idOf(value));
      return [];
    }
  }

  #refuse(code: number, message: string, id: RequestId | null = null): void {
    this.onerror?.(new Error(message));
    this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }

  #write(message: object): void {
    const line = `${JSON.stringify(wellFormed(message))}\n`;
    this.#outbox.push(line);
    this.#waiting += line.length;
    this.#wakeWriter();
  }

  /** Yields the output until the connection is closed and everything is written. */
  async *#lines(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const text = this.#outbox.join("");
      this.#outbox = [];
      if (text !== "") {
        yield Buffer.from(text, "utf8");
        this.#waiting -= text.length;
        this.#wakeReader();
      } else if (this.#isClosed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wakeWriter = resolve;
        });
    }
  }
}

/** @returns undefined for a text that is not JSON; the error's text would repeat it */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function idOf(value: unknown): RequestId | null {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : undefined;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/**
 * Serves one client, of an old or a new version of the protocol, until the client closes its end or the signal aborts.
 * @param onListen called when the client asks for change notifications in the newer protocol
 */
export async function serveLines(
  streams: ByteStreams,
  factory: McpServerFactory,
  signal: AbortSignal,
  onProblem: (text: string) => void,
  onListen: () => void = () => undefined,
): Promise<void> {
  const [{ serveStdio }, { parseJSONRPCMessage }] = await Promise.all([
    import("@modelcontextprotocol/server/stdio"),
    import("@modelcontextprotocol/server"),
  ]);
  const transport = new LineTransport(streams, parseJSONRPCMessage, signal, onListen);
  const handle = serveStdio(factory, {
    transport,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    onerror: (error) => onProblem(messageOf(error)),
  });
  await transport.closed;
  await handle.close();
}
