import { messageOf, systemCode } from "../errors.ts";
import { steadyNow } from "../os/clock.ts";
import { openWholeLines, type WholeLines } from "../os/files/whole-lines.ts";
import { type CastCode, eventLine } from "./cast-format.ts";

/** Maximum bytes of a recording, which then ends: a program that prints without end must not fill the disk. */
const MAX_CAST_BYTES = 256 * 1024 * 1024;

export interface CastWriterOptions {
  /** The file with its header. */
  readonly path: string;
  /** Milliseconds since the start of the recording. */
  readonly elapsedMs: number;
  readonly maxBytes?: number;
  /** Called once, with the reason, when the recording ends before its pane does. */
  readonly onEnd: (why: string) => void;
}

/** Appends events to a recording until it ends. Never throws: a failure ends the recording, and nothing else. */
export class CastWriter {
  readonly #lines: WholeLines;
  readonly #start: number;
  readonly #maxBytes: number;
  readonly #onEnd: (why: string) => void;
  #isOver = false;

  /** @throws TeamError PERMISSION_DENIED; a system error if the file cannot be opened */
  constructor({ path, elapsedMs, maxBytes = MAX_CAST_BYTES, onEnd }: CastWriterOptions) {
    this.#lines = openWholeLines(path);
    this.#start = steadyNow() - elapsedMs;
    this.#maxBytes = maxBytes;
    this.#onEnd = onEnd;
  }

  write(code: CastCode, data: string): void {
    if (this.#isOver || data === "") return;
    const line = eventLine((steadyNow() - this.#start) / 1000, code, data);
    if (this.#lines.size + line.length > this.#maxBytes) {
      this.#end("the recording has reached its maximum size");
      return;
    }
    try {
      this.#lines.append(line);
    } catch (error) {
      this.#end(systemCode(error) === "ENOSPC" ? "the disk is full" : messageOf(error));
    }
  }

  /** Closes the file. Idempotent. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#lines.close();
  }

  #end(why: string): void {
    try {
      this.#lines.append(eventLine((steadyNow() - this.#start) / 1000, "m", `recording ended: ${why}`));
    } catch {
      // A full disk has no room for this either; `onEnd` notifies the user.
    }
    this.close();
    this.#onEnd(why);
  }
}
