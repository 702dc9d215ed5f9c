import { expect, test } from "vitest";
import { after, pause } from "../../../src/os/clock.ts";

test("timers longer than Node's maximum do not fire immediately", async () => {
  const month = 31 * 24 * 3600 * 1000;
  let called = false;
  const cancel = after(month, () => {
    called = true;
  });
  expect(await pause(Number.POSITIVE_INFINITY, AbortSignal.timeout(30))).toBe("aborted");
  cancel();
  expect(called).toBe(false);
});
