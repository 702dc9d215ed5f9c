import { expect, test } from "vitest";
import { onDoubleInterrupt } from "../../../src/terminal/double-interrupt.ts";

function presses(signal = new AbortController().signal) {
  let told = 0;
  const endings = onDoubleInterrupt(() => {
    told += 1;
  }, signal);
  return { ...endings, told: () => told };
}

test("The second Ctrl-C ends an agent, where the first said so", () => {
  const { press, told } = presses();
  expect([press(false), told(), press(false), told()]).toEqual([false, 1, true, 1]);
});

test("One that has dropped a line, or comes after one that was sent, is a first one again", () => {
  const { press, forget, told } = presses();
  expect([press(true), press(true), told()]).toEqual([false, false, 2]);
  forget();
  expect([press(false), told(), press(false)]).toEqual([false, 3, true]);
});

test("One that finds the agent ending ends it at once", () => {
  const { press, told } = presses(AbortSignal.abort());
  expect([press(true), told()]).toEqual([true, 0]);
});
