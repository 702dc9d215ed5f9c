import type { Bell, WaitOptions } from "./bell.ts";
import { type FifoBell, openFifoBell, ring } from "./fifo-bell.ts";
import { holdLifeline } from "./lifeline.ts";

interface DurableBellOptions {
  /** Paths of the FIFOs. */
  readonly bell: string;
  readonly lifeline: string;
  /** Makes those of them that are not there, with the directories above. */
  make(): Promise<void>;
  /** Hears why they could not be made anew: nobody reaches this bell then, and the other ways to be woken remain. */
  problem(error: unknown): void;
}

/**
 * An agent's own bell and lifeline, made anew by itself when they are gone from their paths (a runtime directory ends
 * with the last logout): it looks before each wait, so that the slow check beside it is what brings them back (S78).
 * @throws what {@link openFifoBell} and `make` throw, at the start alone
 */
export async function openDurableBell(options: DurableBellOptions): Promise<Bell> {
  const bell = new DurableBell(options);
  await bell.open();
  return bell;
}

class DurableBell implements Bell {
  readonly #options: DurableBellOptions;
  #bell: FifoBell | undefined;
  #line: ReturnType<typeof holdLifeline> | undefined;
  #mending: Promise<void> | undefined;
  #told: string | undefined;
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
      // What was written while nobody could ring is looked for at once.
      if (before !== undefined) ring(bell);
    }
    if (!this.#line?.isInPlace()) {
      const before = this.#line;
      this.#line = holdLifeline(lifeline);
      before?.close();
    }
  }

  async wait(options: WaitOptions = {}): Promise<"rung" | "timeout" | "aborted"> {
    await this.#mend();
    return this.#closed || this.#bell === undefined ? "aborted" : this.#bell.wait(options);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#bell?.close();
    this.#line?.close();
  }

  /** Never rejects: who waits has other bells. */
  async #mend(): Promise<void> {
    if (this.#closed) return;
    try {
      if (this.#bell?.isInPlace() && this.#line?.isInPlace()) return;
      this.#mending ??= this.open();
      await this.#mending;
      this.#told = undefined;
    } catch (error) {
      this.#tell(error);
    } finally {
      this.#mending = undefined;
    }
  }

  /** Once, however often it is tried again. */
  #tell(error: unknown): void {
    const text = String(error);
    if (text === this.#told) return;
    this.#told = text;
    this.#options.problem(error);
  }
}
