import { Socket } from "node:net";
import { join } from "node:path";
import { identityCondition, TAG } from "../../backend/tmux/pane-tags.ts";
import { openOwnFifo } from "../../os/files/fifo.ts";
import { removeFile } from "../../os/files/fs.ts";
import { identityOf, livenessOf } from "../../os/process/identity.ts";
import { signalProcess } from "../../os/process/process-table.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { textStart } from "../../text/characters/cut-text.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import { allOf, equals, escapeFormat, ifElse, type TmuxCommand } from "../../tmux/command.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";
import { makeFifos } from "../../wakeup/fifo-bell.ts";

const OPENED = "OPENED";
const TAKEN = "TAKEN";
const RECORDED = "RECORDED";

interface PaneOutputOptions {
  readonly server: TmuxServer;
  readonly place: PlaceRecord;
  /** A private directory, for the FIFOs. */
  readonly directory: string;
  /** Path of the tmux program. */
  readonly tmux: string;
  /** Path of the FIFO into which a recorder of the pane copies the output. */
  readonly copy?: string;
}

/**
 * The output of a pane, by `pipe-pane` into a FIFO. A pane has only one pipe: a person's pipe is left alone, and may replace our pipe at
 * any time. A recorder (`run --rec`) that has the pipe passes on a copy. A watcher in our pipe closes it, however this process ends.
 */
export class PaneOutput {
  readonly #server: TmuxServer;
  readonly #place: PlaceRecord;
  readonly #path: string;
  readonly #onBytes: (bytes: Uint8Array) => void;
  readonly #tmux: string;
  readonly #copyPath: string | undefined;
  #fifo: ReturnType<typeof openOwnFifo> | undefined;
  /** A FIFO whose reader reaches the end of file when this process ends or closes it. */
  #life: ReturnType<typeof openOwnFifo> | undefined;
  #socket: Socket | undefined;
  #copy: { readonly fifo: ReturnType<typeof openOwnFifo>; readonly socket: Socket } | undefined;
  /** The first line of a new pipe, until it is complete. */
  #head: string | undefined;
  /** The process that writes into the FIFO. */
  #writer: ProcessIdentity | undefined;
  #isClosed = false;

  constructor(
    { server, place, directory, tmux, copy }: PaneOutputOptions,
    onBytes: (bytes: Uint8Array) => void,
  ) {
    this.#server = server;
    this.#place = place;
    this.#tmux = tmux;
    this.#copyPath = copy;
    this.#path = join(directory, "output");
    this.#onBytes = onBytes;
  }

  /**
   * Opens the pipe. Idempotent.
   * @returns `taken` if the pane has another pipe; `gone` if the pane is gone, or after {@link close}
   * @throws TeamError TMUX_ERROR
   */
  async open(): Promise<"open" | "taken" | "gone"> {
    if (this.#isOpen) return "open";
    const identity = identityCondition(this.#place);
    if (identity === undefined) return "gone";
    await this.#listen();
    if (this.#isClosed) return "gone";
    const { pane, condition } = identity;
    const command = this.#command(pane, condition);
    const print = (text: string): TmuxCommand => ["display-message", "-p", "-t", pane, text];
    this.#head = "";
    this.#writer = undefined;
    try {
      const { lines } = await this.#server.batch([
        ifElse(
          pane,
          allOf(condition, "#{==:#{pane_dead},0}", "#{==:#{pane_pipe},0}"),
          [["pipe-pane", "-O", "-t", pane, escapeFormat(command).replaceAll("%", "%%")], print(OPENED)],
          // Not a single format: display-message would expand the % of a pane's id as strftime does.
          [
            ifElse(
              pane,
              condition,
              [print(TAKEN), ifElse(pane, isRecorded(pane), [print(RECORDED)], [print("")])],
              [print("gone")],
            ),
          ],
        ),
      ]);
      if (lines.includes(RECORDED) && (await this.#listenToCopy())) return "open";
      return lines.includes(OPENED) ? "open" : lines.includes(TAKEN) ? "taken" : "gone";
    } catch (error) {
      if (isNoServer(error)) return "gone";
      throw error;
    }
  }

  /**
   * Returns the command of the pipe. Its first output line is its process id, which {@link close} needs. Its watcher closes the pipe when
   * this process has ended: while `cat` runs, the pane's pipe is ours. Without the FIFO, this process has closed the output meanwhile.
   */
  #command(pane: string, condition: string): string {
    const closing = ["if-shell", "-F", "-t", pane, condition, `pipe-pane -t ${pane}`];
    const close = [this.#tmux, ...this.#server.socketArgs, ...closing].map(shellQuote).join(" ");
    const watch = `{ read -r _; kill -0 $$ && { ${close}; kill $$; }; } <${shellQuote(this.#lifePath)} >/dev/null 2>&1 &`;
    const output = shellQuote(this.#path);
    return `[ -p ${output} ] && exec >${output} && echo $$ && { ${watch} exec cat; }`;
  }

  get #lifePath(): string {
    return `${this.#path}-life`;
  }

  /** Whether the pipe was opened and has since ended. */
  get hasEnded(): boolean {
    return this.#writer !== undefined && !this.#isOpen;
  }

  get #isOpen(): boolean {
    return this.#writer !== undefined && livenessOf(this.#writer) === "alive";
  }

  async #listen(): Promise<void> {
    if (this.#fifo !== undefined || this.#isClosed) return;
    await makeFifos([this.#path, this.#lifePath]);
    if (this.#isClosed) return this.#closeFifo();
    this.#life = openOwnFifo(this.#lifePath);
    this.#fifo = openOwnFifo(this.#path);
    this.#socket = reading(this.#fifo.fd, (bytes) => this.#take(bytes));
  }

  /** Reads the output that a recorder passes on. @returns false if no path for that was given */
  async #listenToCopy(): Promise<boolean> {
    const path = this.#copyPath;
    if (path === undefined || this.#copy !== undefined) return path !== undefined;
    await makeFifos([path]);
    const fifo = openOwnFifo(path);
    this.#copy = { fifo, socket: reading(fifo.fd, this.#onBytes) };
    return true;
  }

  #take(bytes: Uint8Array): void {
    if (this.#head === undefined) {
      this.#onBytes(bytes);
      return;
    }
    const text = this.#head + Buffer.from(bytes).toString("latin1");
    const end = text.indexOf("\n");
    this.#head = end < 0 ? textStart(text, MAX_HEAD) : undefined;
    if (end < 0) return;
    this.#writer = identityOf(Number(text.slice(0, end)));
    if (end + 1 < text.length) this.#onBytes(Buffer.from(text.slice(end + 1), "latin1"));
  }

  /** Closes our pipe, never a person's. @throws TeamError TMUX_ERROR */
  async close(): Promise<void> {
    this.#isClosed = true;
    const writer = this.#isOpen ? this.#writer : undefined;
    this.#writer = undefined;
    try {
      // While its process runs, the pane's pipe is ours.
      if (writer !== undefined) await this.#closePipe();
    } finally {
      if (writer !== undefined && livenessOf(writer) === "alive") signalProcess(writer.pid, "SIGTERM");
      this.#closeFifo();
    }
  }

  async #closePipe(): Promise<void> {
    const identity = identityCondition(this.#place);
    if (identity === undefined) return;
    const { pane, condition } = identity;
    try {
      await this.#server.batch([
        ifElse(pane, condition, [["pipe-pane", "-t", pane]], [["display-message", "-p", ""]]),
      ]);
    } catch (error) {
      if (!isNoServer(error)) throw error;
    }
  }

  #closeFifo(): void {
    this.#socket?.destroy();
    this.#life?.close();
    this.#copy?.socket.destroy();
    if (this.#copy !== undefined && this.#copyPath !== undefined) removeFile(this.#copyPath);
    for (const path of [this.#path, this.#lifePath]) removeFile(path);
  }
}

/** Reads a FIFO. A read error is ignored: bells are then missed, but everything else works. */
function reading(fd: number, onBytes: (bytes: Uint8Array) => void): Socket {
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.on("data", onBytes);
  socket.on("error", () => socket.destroy());
  return socket;
}

/** Returns the condition that our recorder opened a pane's last pipe. */
function isRecorded(pane: string): string {
  return allOf(equals("pane_id", pane), equals(TAG.cast, "1"));
}

const MAX_HEAD = 64;
