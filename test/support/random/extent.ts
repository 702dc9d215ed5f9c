/** Whether a run tries all random cases, kills and storms (`TESTS=full`), instead of a share that differs from run to run. */
export const IS_FULL = process.env.TESTS === "full";

/** One of so many kills at the steps of an operation is tried. */
export const STRIDE = IS_FULL ? 1 : 3;

/** Returns the first step to try, another in each run. */
export function firstStep(): number {
  return 1 + Math.floor(Math.random() * STRIDE);
}
