import { expect, it } from "vitest";
import { createWakeSignal } from "../../../src/worker/lifecycle.ts";

const never = new AbortController().signal;

it("latch wakes a later wait once, however often it was set before", async () => {
  const latch = createWakeSignal();
  latch.set();
  latch.set();
  await latch.wait(never);
  const second = latch.wait(never);
  const order: string[] = [];
  void second.then(() => order.push("woken"));
  await Promise.resolve();
  order.push("set");
  latch.set();
  await second;
  expect(order).toEqual(["set", "woken"]);
});

it("latch ends a wait on abort and leaves no listener", async () => {
  const latch = createWakeSignal();
  const abort = new AbortController();
  const waiting = latch.wait(abort.signal);
  abort.abort();
  await waiting;
  await latch.wait(abort.signal);
});
