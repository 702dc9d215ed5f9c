import { rmSync } from "node:fs";
import { systemCode } from "../../../src/errors.ts";

/** Milliseconds in which other processes may still write there, and between two tries. A shared machine can stand still for a minute. */
const DEADLINE_MS = 180_000;
const PAUSE_MS = 20;

/**
 * Removes a directory, with what a process that ends writes there meanwhile. `maxRetries` of rmSync does not: it reads the entries of
 * a directory once.
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
