export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; without it the wait has no end of its own. */
  readonly timeoutMs?: number;
}

/**
 * A bell carries no data; it may be lost, doubled or early, and the file is the message (architecture.md rule 1).
 * Subscribe, then read, then wait: a ring that came after the last `wait` returned ends the next one at once.
 */
export interface Bell {
  wait(options?: WaitOptions): Promise<"rung" | "timeout" | "aborted">;
  /** Releases what it holds; a pending wait ends as aborted. May be called twice. */
  close(): void;
}

/** What became of a ring: nobody may be there, which is no failure. */
export type RingResult = "rung" | "nobody";
