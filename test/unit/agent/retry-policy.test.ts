import { describe, expect, test } from "vitest";
import { MAX_ATTEMPTS, nextDelay, retryAfterMs } from "../../../src/agent/model/retry-policy.ts";

const headers = (given: Record<string, string>) => new Headers(given);

describe("when a server says to come back", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  test.each<[Record<string, string>, number | undefined]>([
    [{ "retry-after": "3" }, 3000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT" }, 10_000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:10 GMT" }, 0],
    [{ "retry-after-ms": "20", "retry-after": "3" }, 20],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-4" }, 0],
    [{}, undefined],
  ])("%j is %s ms", (given, expected) => expect(retryAfterMs(headers(given), now)).toBe(expected));

  test("an answer without headers says nothing", () => expect(retryAfterMs(undefined, now)).toBeUndefined());
});

describe("the delay before the next try", () => {
  test("grows up to a minute, and chance takes at most a quarter off", () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempt) => nextDelay({ kind: "server", attempt }, 0));
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(nextDelay({ kind: "server", attempt: 1 }, 1)).toBe(750);
  });

  test("is never shorter than the server asked for", () => {
    const asked = { kind: "rate_limited", attempt: 5, retryAfterMs: 9000 } as const;
    expect(nextDelay(asked, 0)).toBe(9000);
    expect(nextDelay(asked, 1)).toBe(9250);
  });

  test.each([
    ["a bad key", { kind: "auth", attempt: 1 }],
    ["a wrong request", { kind: "invalid_request", attempt: 1 }],
    ["the last try", { kind: "server", attempt: MAX_ATTEMPTS }],
    ["a wait that is too long", { kind: "rate_limited", attempt: 1, retryAfterMs: 16 * 60_000 }],
    ["the server's own no", { kind: "server", attempt: 1, shouldRetry: false }],
  ] as const)("there is none behind %s", (_, failed) => expect(nextDelay(failed, 0)).toBeUndefined());
});
