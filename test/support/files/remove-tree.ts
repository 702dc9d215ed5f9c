import { rmSync } from "node:fs";
import { systemCode } from "../../../src/errors.ts";

/** Other processes may write there for this many milliseconds: a shared machine can stall for a minute. */
const DEADLINE_MS = 180_000;
/** Milliseconds between two attempts. */
const PAUSE_MS = 20;

/**
 * Removes a directory even while an exiting process still writes to it. rmSync with `maxRetries` fails then: it reads a directory's
 * entries once.
 * @throws the system error after three minutes
 */
export function removeTree(path: string): void {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (systemCode(error) !== "ENOTEMPTY" || performance.now() > deadline) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
}
