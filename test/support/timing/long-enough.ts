/**
 * Repeats an attempt that must begin its work within a time limit, each time with four times the limit: a stalled machine
 * can use up any fixed limit.
 * @returns the result of the first attempt that got far enough
 */
export async function withGrowingLimit<T>(
  firstMs: number,
  attempt: (limitMs: number) => Promise<T>,
  hasBegun: () => boolean,
): Promise<T> {
  for (let limitMs = firstMs; ; limitMs *= 4) {
    const result = await attempt(limitMs);
    if (hasBegun()) return result;
  }
}
