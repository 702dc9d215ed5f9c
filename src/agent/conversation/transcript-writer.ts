import { isSystemError, messageOf, systemErrorHint } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { isMissing } from "../../os/files/fs.ts";
import type { Transcript, TranscriptEntry } from "./transcript.ts";

/** Milliseconds between two attempts: short, because a person who has just freed some space watches the pane. */
const RETRY_MS = 1_000;

/** A conversation that cannot be written now. */
export interface Unsaved {
  /** Why, in the words of the system. */
  readonly failure: string;
  /** The remedy. */
  readonly hint: string;
}

interface TranscriptWriterOptions {
  readonly transcript: Transcript;
  /** Called at the first of consecutive failures. Must not throw. */
  readonly onFailure: (unsaved: Unsaved) => void;
  /** Called once everything is on the disk again. Must not throw. */
  readonly onRecovery: () => void;
}

/**
 * Writes the entries of a conversation in order. Keeps the entries that cannot be written (a full or read-only disk), and retries
 * until they are.
 */
export class TranscriptWriter {
  readonly #options: TranscriptWriterOptions;
  readonly #kept: TranscriptEntry[] = [];
  readonly #closing = new AbortController();
  #retrying: Promise<void> | undefined;
  #unsaved: Unsaved | undefined;

  constructor(options: TranscriptWriterOptions) {
    this.#options = options;
  }

  /** Writes an entry, or keeps it. @throws an error that no retry solves: the conversation's directory is gone */
  append(entry: TranscriptEntry): void {
    this.#kept.push(entry);
    if (this.#retrying !== undefined || this.#write()) return;
    this.#retrying = this.#retry().finally(() => {
      this.#retrying = undefined;
    });
    // Each caller of `written` gets the error.
    this.#retrying.catch(() => undefined);
  }

  /** Waits until all entries are on the disk. @returns false if the signal aborts or the writer is closed first */
  async written(signal?: AbortSignal): Promise<boolean> {
    const retrying = this.#retrying;
    if (retrying !== undefined && signal?.aborted !== true) {
      let stop = (): void => undefined;
      const aborted = new Promise<void>((resolve) => {
        stop = resolve;
        signal?.addEventListener("abort", stop, { once: true });
      });
      await Promise.race([retrying, aborted]).finally(() => signal?.removeEventListener("abort", stop));
    }
    return this.#kept.length === 0;
  }

  /** Makes a last attempt. @returns why a part of the conversation is lost; undefined if the whole conversation is on the disk */
  async close(): Promise<Unsaved | undefined> {
    this.#closing.abort();
    await this.#retrying?.catch(() => undefined);
    return this.#kept.length === 0 ? undefined : this.#unsaved;
  }

  async #retry(): Promise<void> {
    let isOpen = true;
    while (isOpen) {
      isOpen = (await pause(RETRY_MS, this.#closing.signal)) === "elapsed";
      if (this.#write()) return;
    }
  }

  /** @returns true if all entries are written */
  #write(): boolean {
    const { transcript, onFailure, onRecovery } = this.#options;
    try {
      for (let entry = this.#kept[0]; entry !== undefined; entry = this.#kept[0]) {
        transcript.append(entry);
        this.#kept.shift();
      }
    } catch (error) {
      if (!isSystemError(error) || isMissing(error)) throw error;
      const isFirst = this.#unsaved === undefined;
      this.#unsaved = { failure: messageOf(error), hint: systemErrorHint(error) };
      if (isFirst) onFailure(this.#unsaved);
      return false;
    }
    if (this.#unsaved !== undefined) onRecovery();
    this.#unsaved = undefined;
    return true;
  }
}
