import { expect, test } from "vitest";
import { after, pause } from "../../../src/os/clock.ts";

test("a time longer than a timer of Node can hold is no time at all to none of them", async () => {
  const month = 31 * 24 * 3600 * 1000;
  let called = false;
  const cancel = after(month, () => {
    called = true;
  });
  expect(await pause(Number.POSITIVE_INFINITY, AbortSignal.timeout(30))).toBe("aborted");
  cancel();
  expect(called).toBe(false);
});
