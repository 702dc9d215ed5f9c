import type { Bell, WaitOptions } from "./bell.ts";

/** Several bells as one: whichever rings first ends the wait. Closing it closes them all. */
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
): Promise<"rung" | "timeout" | "aborted"> {
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
