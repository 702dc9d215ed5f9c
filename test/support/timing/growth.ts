import { processorMs } from "./processor-time.ts";

/** How many times larger the second input is: linear work then takes 8 times as long, and quadratic work 64 times. */
const FACTOR = 8;
/** Half of what quadratic work would need, and four times what linear work needs. */
export const MAX_GROWTH = 32;
const MEASURES = 3;
/** Milliseconds; less is mostly the noise of the measure. */
const MIN_MS = 2;

/**
 * Returns how many times as much processor time some work takes with an input of 8 times the size. The best of up to three measures counts,
 * since other work of the process (its compiler, its garbage) only adds to a measure.
 * @param size of the smaller input: large enough for some milliseconds of work
 * @param prepare builds an input of a size; not measured
 */
export function growth<T>(
  size: number,
  prepare: (size: number) => T,
  work: (input: T) => unknown,
  measure = processorMs,
): number {
  const [small, large] = [prepare(size), prepare(size * FACTOR)];
  // The first measure includes the compiler, which would hide growth.
  const least = Math.min(...Array.from({ length: MEASURES }, () => measure(() => work(small))));
  let ratio = Number.POSITIVE_INFINITY;
  for (let i = 0; i < MEASURES && ratio > MAX_GROWTH; i += 1)
    ratio = Math.min(ratio, measure(() => work(large)) / Math.max(MIN_MS, least));
  return ratio;
}
