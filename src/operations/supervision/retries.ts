import { messageOf } from "../../errors.ts";

/** Milliseconds before the first retry; each later one waits twice as long. */
const FIRST_MS = 500;
const MAX_MS = 10_000;

/** Consecutive failures of a repeated check: reports each message once, and returns the delay before the next attempt. */
export class Retries {
  readonly #report: (message: string) => void;
  #reported = new Set<string>();
  #failures = 0;

  constructor(report: (message: string) => void) {
    this.#report = report;
  }

  /** @returns the milliseconds to wait before the next attempt */
  failed(error: unknown): number {
    const message = messageOf(error);
    if (!this.#reported.has(message)) this.#report(message);
    this.#reported.add(message);
    this.#failures += 1;
    return Math.min(FIRST_MS * 2 ** (this.#failures - 1), MAX_MS);
  }

  /** Resets: the next failure is reported again. */
  succeeded(): void {
    this.#reported = new Set();
    this.#failures = 0;
  }
}
