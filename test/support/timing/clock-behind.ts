import { fileURLToPath } from "node:url";
import { onTestFinished, vi } from "vitest";

const HOUR_MS = 3_600_000;
const PRELOAD = fileURLToPath(new URL("../../fixtures/preload/clock-behind.cjs", import.meta.url));

/** The words that start a program with a clock behind the times of files: no lock ever becomes stale in it. */
export const CLOCK_BEHIND = ["env", `NODE_OPTIONS=--require=${PRELOAD}`];

/**
 * Sets the clock of this process an hour behind the times of files during a test. No lock becomes stale then, so only the end of its
 * holder lets another process take it.
 */
export function clockBehind(): void {
  const { now } = Date;
  const spy = vi.spyOn(Date, "now").mockImplementation(() => now() - HOUR_MS);
  onTestFinished(() => spy.mockRestore());
}
