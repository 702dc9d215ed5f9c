import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";

/**
 * Runs `work`. Meanwhile, a pause of `ms` milliseconds of `node:timers/promises` lasts until `event` has happened: a time limit of `ms`
 * expires after the event, however slow the machine is.
 */
export async function expireAfter<T>(
  ms: number,
  event: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const real = timers.setTimeout;
  const held = async <V>(given?: number, value?: V, options?: { signal?: AbortSignal }): Promise<V> => {
    if (given !== ms) return real(given, value as V, options);
    const cancelled = new Promise<never>((_, reject) =>
      options?.signal?.addEventListener("abort", () => reject(new Error("The pause was cancelled."))),
    );
    return Promise.race([event().then(() => value as V), cancelled]);
  };
  const patch = (setTimeout: unknown): void => {
    Object.assign(timers, { setTimeout });
    syncBuiltinESMExports();
  };
  patch(held);
  try {
    return await work();
  } finally {
    patch(real);
  }
}
