import { onTestFinished, vi } from "vitest";

const NEVER_MS = 2 ** 31 - 1;

interface StartedTimer {
  readonly ms: number;
  readonly call: () => void;
}

/**
 * Suspends the slow checks of this process during a test, so that only a bell can cause the event that the test waits for. Call it
 * once, before the timers start.
 * @param slowMs the shortest interval of a slow check, which finds what a lost ring would have reported
 * @returns the timers of slow checks and of other long waits, whose callbacks the test may call
 */
export function noSlowCheck(slowMs = 5_000): readonly StartedTimer[] {
  const started: StartedTimer[] = [];
  const real = globalThis.setTimeout;
  const suspended = (call: () => void, ms?: number, ...rest: []): NodeJS.Timeout => {
    if (ms === undefined || ms < slowMs) return real(call, ms, ...rest);
    started.push({ ms, call });
    return real(call, NEVER_MS);
  };
  const spy = vi
    .spyOn(globalThis, "setTimeout")
    .mockImplementation(Object.assign(suspended, { __promisify__: real.__promisify__ }));
  onTestFinished(() => void spy.mockRestore());
  return started;
}
