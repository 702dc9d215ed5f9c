import { onTestFinished, vi } from "vitest";

const NEVER_MS = 2 ** 31 - 1;

/**
 * Lets no slow check of this process happen during a test, so that only a bell can be the cause of what the test waits for. Call it
 * once, before the timers start.
 * @param slowMs the shortest interval of a slow check, which finds what a lost ring would have reported
 */
export function noSlowCheck(slowMs = 5_000): void {
  const real = globalThis.setTimeout;
  const patient = (call: () => void, ms?: number, ...rest: []): NodeJS.Timeout =>
    real(call, ms !== undefined && ms >= slowMs ? NEVER_MS : ms, ...rest);
  const spy = vi
    .spyOn(globalThis, "setTimeout")
    .mockImplementation(Object.assign(patient, { __promisify__: real.__promisify__ }));
  onTestFinished(() => void spy.mockRestore());
}
