import { processorMs } from "./processor-time.ts";

/** How many times larger the second input is: linear work then takes 8 times as long, and quadratic work 64 times. */
const FACTOR = 8;
/** Half the growth of quadratic work, and four times that of linear work. */
export const MAX_GROWTH = 32;
const MEASUREMENTS = 3;
/** Milliseconds: beside a garbage collection in the large input, a shorter measurement says nothing. */
const MIN_MS = 5;

/**
 * Returns how many times as much processor time some work takes with an input of 8 times the size. The smallest of up to three measurements
 * counts, since other work of the process (compilation, garbage collection) only adds to a measurement.
 * @param size the size of the smaller input: large enough for some milliseconds of work
 * @param prepare builds an input of a size; not measured
 */
export function growth<T>(
  size: number,
  prepare: (size: number) => T,
  work: (input: T) => unknown,
  measure = processorMs,
): number {
  const [small, large] = [prepare(size), prepare(size * FACTOR)];
  // The first measurement includes compilation, which would hide growth.
  const least = Math.min(...Array.from({ length: MEASUREMENTS }, () => measure(() => work(small))));
  let ratio = Number.POSITIVE_INFINITY;
  for (let i = 0; i < MEASUREMENTS && ratio > MAX_GROWTH; i += 1)
    ratio = Math.min(ratio, measure(() => work(large)) / Math.max(MIN_MS, least));
  return ratio;
}
