import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds between two polls: a poll often starts a process. */
const PAUSE = 250;
/** Default maximum milliseconds until a condition is met. */
export const USUAL = 45_000;

let factor = 1;

/** Multiplies all limits, on a machine with other work. */
export function setPatience(times: number): void {
  factor = times;
}

/** Returns a limit, multiplied for this machine. */
export const patient = (limit: number): number => limit * factor;

/** Waits until `poll` returns a value. @throws Error "waited … for `what`" after `limit` milliseconds */
export async function until<T>(
  what: string,
  poll: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  limit = USUAL,
): Promise<T> {
  const end = performance.now() + patient(limit);
  for (;;) {
    const seen = await poll();
    if (seen !== undefined && seen !== false && seen !== null) return seen;
    if (performance.now() > end) throw new Error(`waited ${Math.round(patient(limit) / 1000)} s for ${what}`);
    await delay(PAUSE);
  }
}

/** Returns the result of `work`. @throws Error if it takes longer than `limit` milliseconds */
export async function within<T>(limit: number, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = delay(patient(limit), undefined, { signal: done.signal }).then(() => {
    throw new Error(`not finished within ${Math.round(patient(limit) / 1000)} s`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
