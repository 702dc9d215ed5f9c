import { AsyncLocalStorage } from "node:async_hooks";

const MAX_PAUSE_MS = 500;

const looking = new AsyncLocalStorage<boolean>();

/** Whether the caller runs in a look of {@link eventually}, which may come again and again. */
export function isLooking(): boolean {
  return looking.getStore() === true;
}

/** Waits until `look` returns a value. @throws with the awaited thing in its message when the time is over */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  timeoutMs = 180_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const since = performance.now();
    const seen = await looking.run(true, async () => look());
    if (seen !== undefined && seen !== false && seen !== null) return seen;
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`);
    // A look that runs a program would otherwise keep a processor busy, which other tests need.
    const pause = Math.min(MAX_PAUSE_MS, Math.max(10, 1.5 * (performance.now() - since)));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
