import { pause } from "../os/clock.ts";

/**
 * Runs one step of a CLI's start.
 * @param ended resolves with how the CLI ended
 * @param step receives a signal that aborts when the step is over
 * @throws Error if the CLI ends, or if the step takes more than `ms` milliseconds
 */
export async function startStep<T>(
  ended: Promise<string>,
  ms: number,
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const late = pause(ms, over.signal).then(() => `it was not ready within ${ms / 1000} s`);
  const early = ended.then((how) => `it ended with ${how}`);
  const failed = Promise.race([late, early]).then((why) => Promise.reject(new Error(why)));
  const done = step(over.signal);
  for (const one of [done, failed]) one.catch(() => undefined);
  try {
    return await Promise.race([done, failed]);
  } finally {
    over.abort();
  }
}
