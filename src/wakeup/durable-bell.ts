import type { Bell, WaitOptions, WaitOutcome } from "./bell.ts";
import { type FifoBell, openFifoBell, ring } from "./fifo-bell.ts";
import { holdLifeline } from "./lifeline.ts";

interface DurableBellOptions {
  /** Paths of the FIFOs. */
  readonly bell: string;
  readonly lifeline: string;
  /** Creates the missing FIFOs and their directories. */
  make(): Promise<void>;
  /** Receives the error if they cannot be recreated. Rings do not reach this bell then; the other bells still wake the agent. */
  problem(error: unknown): void;
}

/**
 * Opens an agent's own bell and lifeline, and recreates them if they disappear (the runtime directory is removed at the last
 * logout). It checks them before each wait; the timer bell next to it makes sure that there is a next wait (S78).
 * @throws as {@link openFifoBell} and `make`, but only here, never in `wait`
 */
export async function openDurableBell(options: DurableBellOptions): Promise<Bell> {
  const bell = new DurableBell(options);
  await bell.open();
  return bell;
}

class DurableBell implements Bell {
  readonly #options: DurableBellOptions;
  #bell: FifoBell | undefined;
  #lifeline: ReturnType<typeof holdLifeline> | undefined;
  #restoring: Promise<void> | undefined;
  #reported: string | undefined;
  #closed = false;

  constructor(options: DurableBellOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { bell, lifeline, make } = this.#options;
    await make();
    if (this.#closed) return;
    if (!this.#bell?.isInPlace()) {
      const before = this.#bell;
      this.#bell = openFifoBell(bell);
      before?.close();
      // A message may have been written without a ring meanwhile: wake the reader.
      if (before !== undefined) ring(bell);
    }
    if (!this.#lifeline?.isInPlace()) {
      const before = this.#lifeline;
      this.#lifeline = holdLifeline(lifeline);
      before?.close();
    }
  }

  async wait(options: WaitOptions = {}): Promise<WaitOutcome> {
    await this.#restore();
    return this.#closed || this.#bell === undefined ? "aborted" : this.#bell.wait(options);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#bell?.close();
    this.#lifeline?.close();
  }

  /** Recreates missing files. Never rejects: the agent has other bells. */
  async #restore(): Promise<void> {
    if (this.#closed) return;
    try {
      if (this.#bell?.isInPlace() && this.#lifeline?.isInPlace()) return;
      this.#restoring ??= this.open();
      await this.#restoring;
      this.#reported = undefined;
    } catch (error) {
      this.#report(error);
    } finally {
      this.#restoring = undefined;
    }
  }

  /** Reports an error once, not for each retry. */
  #report(error: unknown): void {
    const text = String(error);
    if (text === this.#reported) return;
    this.#reported = text;
    this.#options.problem(error);
  }
}
