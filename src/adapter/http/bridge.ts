import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { after } from "../../os/clock.ts";
import { listenLocally, type SocketDirectory } from "../../os/net/local-server.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { cleaned, fieldsIn, parsedJson } from "../reported-values.ts";

/** Time limit in milliseconds for an answer of OpenCode. */
const ANSWER_MS = 20_000;
/** Maximum characters of OpenCode's error answer that an error repeats. */
const MAX_ANSWER = 300;

interface Waiting {
  readonly what: string;
  readonly stopTimer: () => void;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface BridgeEvents {
  happened(type: string, properties: unknown): void;
  /** The plugin, and with it OpenCode, has ended. */
  closed(): void;
}

/** Our end of the connection to the plugin in OpenCode: requests to its HTTP handler, and its events. */
export class Bridge {
  readonly #events: BridgeEvents;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ready: Promise<void>;
  #setReady: () => void = () => undefined;
  #setFailed: (error: Error) => void = () => undefined;
  #socket: Socket | undefined;
  #close: (() => void) | undefined;
  #lastId = 0;

  constructor(events: BridgeEvents) {
    this.#events = events;
    this.#ready = new Promise((resolve, reject) => {
      this.#setReady = resolve;
      this.#setFailed = reject;
    });
    this.#ready.catch(() => undefined);
  }

  async listen(place: SocketDirectory): Promise<void> {
    this.#close = await listenLocally(place, (socket) => this.#onConnection(socket));
  }

  /** Resolves once the plugin is connected and has set the permissions. Rejects if the plugin fails in this version of OpenCode. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /**
   * Sends a request.
   * @returns the parsed answer; undefined if it is empty or not JSON
   * @throws Error if OpenCode does not answer, or refuses
   */
  request(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown> {
    const socket = this.#socket;
    const what = `${method} ${path}`;
    if (socket === undefined || socket.destroyed) return Promise.reject(new Error(`${what}: not connected`));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const stopTimer = after(ANSWER_MS, () => this.#answered(id, 0, "no answer in time"));
      this.#waiting.set(id, { what, stopTimer, resolve, reject });
      socket.write(`${JSON.stringify(wellFormed({ id, method, path, body }))}\n`);
    });
  }

  close(): void {
    this.#close?.();
    for (const id of [...this.#waiting.keys()]) this.#answered(id, 0, "it is shutting down");
  }

  /** The first connection is the plugin's: OpenCode runs nothing before it. */
  #onConnection(socket: Socket): void {
    if (this.#socket !== undefined) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    socket.once("close", () => {
      for (const id of [...this.#waiting.keys()]) this.#answered(id, 0, "it is no longer connected");
      this.#events.closed();
    });
    createInterface({ input: socket })
      .on("line", (line) => this.#onLine(line))
      // The interface repeats errors of the socket, whose close event follows.
      .on("error", () => undefined);
  }

  #onLine(line: string): void {
    const { ready, failed, id, status, text, type, properties } = fieldsIn(line);
    if (ready === true) this.#setReady();
    else if (typeof failed === "string")
      this.#setFailed(new Error(`the teams plugin in it failed: ${shortened(cleaned(failed), MAX_ANSWER)}`));
    else if (typeof type === "string") this.#events.happened(type, properties);
    else if (typeof id === "number" && typeof text === "string") this.#answered(id, Number(status), text);
  }

  #answered(id: number, status: number, text: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    waiting.stopTimer();
    if (status >= 200 && status < 300) waiting.resolve(text === "" ? undefined : parsedJson(text));
    else {
      const code = status === 0 ? "" : `${status} `;
      waiting.reject(new Error(`${waiting.what}: ${code}${shortened(cleaned(text), MAX_ANSWER)}`));
    }
  }
}
