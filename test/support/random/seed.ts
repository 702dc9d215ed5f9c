/** The seed of all random choices: the same in each run, so that a new failure does not block other work. See `draw-seed.ts`. */
export const SEED = Number(process.env.FUZZ_SEED ?? 1);

if (!Number.isSafeInteger(SEED))
  throw new Error(`FUZZ_SEED must be a whole number, not ${process.env.FUZZ_SEED}.`);
