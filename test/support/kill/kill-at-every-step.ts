import { expect } from "vitest";
import type { Script } from "../processes/script-process.ts";
import { firstStep, STRIDE } from "../random/extent.ts";

/** The number of processes at once. */
const AT_ONCE = 4;

/**
 * Kills a process at its first step, another at its second, and so on, until one finishes; unless `TESTS=full`, only at one of three.
 * @param start starts the process that is killed at its n-th step
 * @param check checks its files
 * @param few the process has so few steps that each is tried
 * @returns the number of steps; unless each was tried, up to two more
 */
export async function atEveryStep(
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
