import { setTimeout as delay } from "node:timers/promises";

/** Where time comes from; tests hand in their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** What a timer of Node can hold, 24 days; it takes a longer time for none at all. */
const LONGEST_MS = 2 ** 31 - 1;

/** Waits `ms` milliseconds (at most 24 days), or until the signal aborts; says which. Never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<"elapsed" | "aborted"> {
  if (signal?.aborted) return "aborted";
  try {
    await delay(Math.min(ms, LONGEST_MS), undefined, signal === undefined ? {} : { signal });
    return "elapsed";
  } catch {
    // The timer rejects only for the abort, which is an answer here and no failure.
    return "aborted";
  }
}

/** Stops this whole thread for some milliseconds: for the rare second look at a file inside synchronous code. */
export function pauseSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * Milliseconds of a clock that only goes forward: for deadlines, which a changed wall clock must not move. Not
 * `performance.now()`, whose module takes a cold command half a millisecond to load.
 */
export function steadyNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Calls back once after `ms` milliseconds, or after 24 days if that is sooner. @returns takes the call back */
export function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, Math.min(ms, LONGEST_MS));
  return () => clearTimeout(timer);
}
