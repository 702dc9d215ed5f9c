/**
 * Draws the seed of this run's random choices if FUZZ=random asks for a new one, and prints it. Every process of the run inherits
 * it as FUZZ_SEED, which also repeats a run. Without either, all choices are the same in each run (`seed.ts`).
 */
export function drawSeed(env: NodeJS.ProcessEnv): void {
  if (env.FUZZ !== "random" || env.FUZZ_SEED !== undefined) return;
  env.FUZZ_SEED = String(Math.ceil(Math.random() * 1_000_000));
  console.log(`FUZZ_SEED=${env.FUZZ_SEED}`);
}
