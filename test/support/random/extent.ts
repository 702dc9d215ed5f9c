import { SEED } from "./seed.ts";

/** Whether a run tries all random cases, kills and storms (`TESTS=full`), instead of a share of them. */
export const IS_FULL = process.env.TESTS === "full";

/** Every third step of an operation is killed, or each step with `TESTS=full`. */
export const STRIDE = IS_FULL ? 1 : 3;

/** Returns the first step to try; it depends on the seed. */
export function firstStep(): number {
  return 1 + (SEED % STRIDE);
}
