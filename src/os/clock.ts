import { setTimeout as delay } from "node:timers/promises";

/** Source of the current time; tests pass their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** The longest timer of Node, 24 days; a longer one would fire at once. */
const MAX_MS = 2 ** 31 - 1;

/** Waits `ms` milliseconds (at most 24 days) or until the signal aborts; returns which came first. Never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<"elapsed" | "aborted"> {
  if (signal?.aborted) return "aborted";
  try {
    await delay(Math.min(ms, MAX_MS), undefined, signal === undefined ? {} : { signal });
    return "elapsed";
  } catch {
    // The timer rejects only on abort, which is a result here.
    return "aborted";
  }
}

/** Blocks this thread for `ms` milliseconds: for a rare second read of a file in synchronous code. */
export function pauseSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * Returns the milliseconds of a monotonic clock, for deadlines that must not move when the wall clock changes. Not
 * `performance.now()`: loading its module takes a cold command half a millisecond.
 */
export function steadyNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Calls `call` once after `ms` milliseconds, at most 24 days. @returns a function that cancels it */
export function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, Math.min(ms, MAX_MS));
  return () => clearTimeout(timer);
}

/**
 * Calls `call` once after `ms` milliseconds, at most 24 days, if this process still runs: the timer does not keep it alive.
 * @returns a function that cancels it
 */
export function afterIfRunning(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, Math.min(ms, MAX_MS)).unref();
  return () => clearTimeout(timer);
}
