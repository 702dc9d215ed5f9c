import { expect, test } from "vitest";
import { onDoubleInterrupt } from "../../../src/terminal/double-interrupt.ts";

function presses(signal = new AbortController().signal) {
  let reports = 0;
  const endings = onDoubleInterrupt(() => {
    reports += 1;
  }, signal);
  return { ...endings, reports: () => reports };
}

test("onDoubleInterrupt ends an agent at the second Ctrl-C if the first announced it", () => {
  const { press, reports } = presses();
  expect([press(false), reports(), press(false), reports()]).toEqual([false, 1, true, 1]);
});

test("onDoubleInterrupt counts from one again after a press that dropped a line, and after a sent line", () => {
  const { press, forget, reports } = presses();
  expect([press(true), press(true), reports()]).toEqual([false, false, 0]);
  expect([press(false), press(true), press(false), reports()]).toEqual([false, false, false, 2]);
  forget();
  expect([press(false), reports(), press(false)]).toEqual([false, 3, true]);
});

test("onDoubleInterrupt ends an agent at the first Ctrl-C if it is already ending", () => {
  const { press, reports } = presses(AbortSignal.abort());
  expect([press(true), reports()]).toEqual([true, 0]);
});
