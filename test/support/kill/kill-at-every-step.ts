import { expect } from "vitest";
import type { Script } from "../processes/script-process.ts";
import { firstStep, STRIDE } from "../random/extent.ts";

/** The number of processes at once. */
const AT_ONCE = 4;

/**
 * Kills a process at its first step, another at its second, and so on, until one finishes. Without `TESTS=full`, kills only at every
 * third step.
 * @param start starts the process that is killed at its n-th step; `check` checks its files
 * @param few true if the process has so few steps that each is tried
 * @returns the number of steps, or up to two more if not every step was tried
 */
export async function killAtEveryStep(
  start: (n: number) => Promise<{ readonly child: Script; readonly check: () => Promise<void> }>,
  { few = false }: { readonly few?: boolean } = {},
): Promise<number> {
  let next = few ? 1 : firstStep();
  const stride = few ? 1 : STRIDE;
  let steps = Number.POSITIVE_INFINITY;
  const work = async (): Promise<void> => {
    while (next < steps) {
      const n = next;
      next += stride;
      const { child, check } = await start(n);
      const { signal, stderr } = await child.ended();
      expect(stderr, `killed at ${n}`).toBe("");
      if (signal === null) steps = Math.min(steps, n);
      await check();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return steps;
}
