import { after } from "../os/clock.ts";
import type { Bell } from "./bell.ts";

/** Shortest and longest interval, in milliseconds, of a timer in an idle process. */
const MIN_MS = 5_000;
const MAX_MS = 60_000;

/**
 * Opens a bell that rings by the clock, so that a message is found even if its ring was lost. Each interval is twice as long as the
 * previous one; a wait that another bell ended (`anyBell`) resets it to the first.
 * @param firstMs milliseconds until the first ring, at least 5000
 */
export function timerBell({ firstMs = MIN_MS }: { readonly firstMs?: number } = {}): Bell {
  const first = Math.max(MIN_MS, firstMs);
  return backoffBell(first, Math.max(first, MAX_MS));
}

/** Like {@link timerBell}, without the lower bound; exported for tests. */
export function backoffBell(firstMs: number, maxMs: number): Bell {
  let interval = firstMs;
  const closing = new AbortController();
  return {
    wait: async ({ signal, timeoutMs = Number.POSITIVE_INFINITY } = {}) => {
      const outcome = await elapse(Math.min(interval, timeoutMs), [closing.signal, signal]);
      if (outcome === "aborted") {
        interval = firstMs;
        return outcome;
      }
      if (timeoutMs < interval) return "timeout";
      interval = Math.min(interval * 2, maxMs);
      return "rung";
    },
    close: () => closing.abort(),
  };
}

function elapse(ms: number, signals: readonly (AbortSignal | undefined)[]): Promise<"elapsed" | "aborted"> {
  if (signals.some((signal) => signal?.aborted)) return Promise.resolve("aborted");
  return new Promise((resolve) => {
    const cancel = after(ms, () => end("elapsed"));
    const onAbort = (): void => end("aborted");
    const end = (outcome: "elapsed" | "aborted"): void => {
      cancel();
      for (const signal of signals) signal?.removeEventListener("abort", onAbort);
      resolve(outcome);
    };
    for (const signal of signals) signal?.addEventListener("abort", onAbort);
  });
}
