import { after } from "../os/clock.ts";

export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; without it the wait has no time limit. */
  readonly timeoutMs?: number;
}

export type WaitOutcome = "rung" | "timeout" | "aborted";

/**
 * Wakes a waiting process. A bell carries no data, and a ring may be lost, duplicated or early: the file is the message.
 * Open the bell, then read the file, then wait: a ring after the last `wait` ends the next one at once.
 */
export interface Bell {
  wait(options?: WaitOptions): Promise<WaitOutcome>;
  /** Releases the resources; a pending wait ends as aborted. May be called twice. */
  close(): void;
}

/** The result of a ring. `unheard`: no process has the bell open, which is not an error. */
export type RingResult = "rung" | "unheard";

/**
 * A bell that this process rings itself, and the base of the other kinds. Rings without a waiter are kept as a single one; a ring
 * wakes all waiters.
 * @param release called once at `close`
 */
export class ManualBell implements Bell {
  private rung = false;
  private closed = false;
  private readonly waiting = new Set<(outcome: WaitOutcome) => void>();
  private readonly release: () => void;

  constructor(release: () => void) {
    this.release = release;
  }

  ring(): void {
    if (this.closed) return;
    this.rung = true;
    this.wake("rung");
  }

  wait({ signal, timeoutMs }: WaitOptions = {}): Promise<WaitOutcome> {
    if (this.closed || signal?.aborted) return Promise.resolve("aborted");
    if (this.rung) {
      this.rung = false;
      return Promise.resolve("rung");
    }
    return new Promise((resolve) => {
      const cancel = timeoutMs === undefined ? undefined : after(timeoutMs, () => end("timeout"));
      const onAbort = (): void => end("aborted");
      const end = (outcome: WaitOutcome): void => {
        cancel?.();
        signal?.removeEventListener("abort", onAbort);
        this.waiting.delete(end);
        if (outcome === "rung") this.rung = false;
        resolve(outcome);
      };
      signal?.addEventListener("abort", onAbort);
      this.waiting.add(end);
    });
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.wake("aborted");
    this.release();
  }

  private wake(outcome: WaitOutcome): void {
    for (const end of [...this.waiting]) end(outcome);
  }
}

/** Combines several bells: the first ring ends the wait. `close` closes them all. */
export function anyBell(bells: readonly Bell[]): Bell {
  return {
    wait: (options) => waitForAny(bells, options),
    close: () => {
      for (const bell of bells) bell.close();
    },
  };
}

async function waitForAny(
  bells: readonly Bell[],
  { signal, timeoutMs }: WaitOptions = {},
): Promise<WaitOutcome> {
  const others = new AbortController();
  const stop = (): void => others.abort();
  if (signal?.aborted) return "aborted";
  signal?.addEventListener("abort", stop);
  try {
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    return await Promise.race(bells.map((bell) => bell.wait({ signal: others.signal, ...limit })));
  } finally {
    signal?.removeEventListener("abort", stop);
    others.abort();
  }
}
