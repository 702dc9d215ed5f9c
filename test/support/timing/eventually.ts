import { AsyncLocalStorage } from "node:async_hooks";

const MAX_PAUSE_MS = 500;

const polling = new AsyncLocalStorage<boolean>();

/** Returns whether the caller runs within a poll of {@link eventually}, which may be repeated. */
export function isPolling(): boolean {
  return polling.getStore() === true;
}

/** Polls until `poll` returns a value. @throws Error that names `what` when the time is over */
export async function eventually<T>(
  what: string,
  poll: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  timeoutMs = 180_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const since = performance.now();
    const result = await polling.run(true, async () => poll());
    if (result !== undefined && result !== false && result !== null) return result;
    if (performance.now() > deadline) throw new Error(`Timed out after ${timeoutMs} ms waiting for ${what}.`);
    // Without the pause, a poll that runs a program would keep a processor busy, which other tests need.
    const pause = Math.min(MAX_PAUSE_MS, Math.max(10, 1.5 * (performance.now() - since)));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
