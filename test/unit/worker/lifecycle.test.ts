import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { createWakeSignal } from "../../../src/worker/lifecycle.ts";

const never = new AbortController().signal;

it("createWakeSignal › wakes a later wait once, however often it was set before", async () => {
  const wakeSignal = createWakeSignal();
  wakeSignal.set();
  wakeSignal.set();
  await wakeSignal.wait(never);
  const second = wakeSignal.wait(never);
  const order: string[] = [];
  void second.then(() => order.push("woken"));
  await Promise.resolve();
  order.push("set");
  wakeSignal.set();
  await second;
  expect(order).toEqual(["set", "woken"]);
});

it("createWakeSignal › ends a wait on abort and leaves no listener", async () => {
  const wakeSignal = createWakeSignal();
  const abort = new AbortController();
  const waiting = wakeSignal.wait(abort.signal);
  abort.abort();
  await waiting;
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
  await wakeSignal.wait(abort.signal);
});
