import { expect } from "vitest";
import type { Script } from "../processes/script-process.ts";

/** The number of processes at once. */
const AT_ONCE = 4;

/**
 * Kills a process at its first step, another at its second, and so on, until one finishes.
 * @param start starts the process that is killed at its n-th step
 * @param check checks its files
 * @returns the number of steps
 */
export async function atEveryStep(
  start: (n: number) => Promise<{ readonly child: Script; readonly check: () => Promise<void> }>,
): Promise<number> {
  let next = 1;
  let steps = Number.POSITIVE_INFINITY;
  const work = async (): Promise<void> => {
    while (next < steps) {
      const n = next++;
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
