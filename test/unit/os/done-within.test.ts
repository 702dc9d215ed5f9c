import { expect, test } from "vitest";
import { isDoneWithin } from "../../../src/os/done-within.ts";

test.each([
  ["is done in time", Promise.resolve(), 1_000, true],
  ["is late", new Promise<never>(() => undefined), 5, false],
])("isDoneWithin › returns whether a promise %s", async (_what, done, ms, expected) => {
  expect(await isDoneWithin(ms, done, new AbortController().signal)).toBe(expected);
});

test("isDoneWithin › ends when its signal aborts, and rejects as its promise does", async () => {
  const never = new Promise<never>(() => undefined);
  expect(await isDoneWithin(60_000, never, AbortSignal.abort())).toBe(false);
  const failed = Promise.reject(new Error("it failed"));
  await expect(isDoneWithin(60_000, failed, new AbortController().signal)).rejects.toThrow("it failed");
});
