import { onTestFinished, vi } from "vitest";

/**
 * Stops the steady clock of this process during a test, so that no limit of the program passes, however long the machine stalls.
 * @returns the number of readings so far
 */
export function stopSteadyClock(): () => number {
  const spy = vi.spyOn(process.hrtime, "bigint").mockReturnValue(process.hrtime.bigint());
  onTestFinished(() => spy.mockRestore());
  return () => spy.mock.calls.length;
}
