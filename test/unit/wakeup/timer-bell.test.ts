import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { timerBell } from "../../../src/wakeup/timer-bell.ts";

// Fake timers: the intervals are minutes long.
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("timerBell never rings faster than every 5 s, and doubles its interval up to the maximum", async () => {
  const bell = timerBell({ firstMs: 10 });
  expect(await timesOf(bell, 6)).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
});

test("timerBell starts again with the first interval after a wait that its timer did not end", async () => {
  const bell = timerBell();
  await timesOf(bell, 3);
  const other = new AbortController();
  const woken = bell.wait({ signal: other.signal });
  other.abort();
  expect(await woken).toBe("aborted");
  expect(await timesOf(bell, 1)).toEqual([5_000]);
});

async function timesOf(bell: ReturnType<typeof timerBell>, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const start = Date.now();
    const woken = bell.wait();
    await vi.runOnlyPendingTimersAsync();
    await woken;
    times.push(Date.now() - start);
  }
  return times;
}
