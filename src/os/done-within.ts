import { pause } from "./clock.ts";

/** Returns whether `done` resolves within `ms` milliseconds and before the signal aborts. @throws the rejection of `done` */
export async function isDoneWithin(
  ms: number,
  done: Promise<unknown>,
  signal?: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const aborted = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  try {
    const late = pause(ms, aborted).then(() => false);
    return await Promise.race([done.then(() => true), late]);
  } finally {
    over.abort();
  }
}
