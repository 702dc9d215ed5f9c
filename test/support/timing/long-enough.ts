/**
 * Repeats an attempt that has to begin its work within a time limit, each time with four times the limit: a stalled machine
 * can use up any fixed one.
 * @returns the result of the first attempt that got far enough
 */
export async function longEnough<T>(
  firstMs: number,
  attempt: (limitMs: number) => Promise<T>,
  hasBegun: () => boolean,
): Promise<T> {
  for (let limitMs = firstMs; ; limitMs *= 4) {
    const result = await attempt(limitMs);
    if (hasBegun()) return result;
  }
}
