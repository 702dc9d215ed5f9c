import { describe, expect, test } from "vitest";
import { MAX_ATTEMPTS, nextDelay, retryAfterMs } from "../../../../src/agent/model/retry-policy.ts";

const headers = (given: Record<string, string>) => new Headers(given);

describe("retryAfterMs", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  test.each<[Record<string, string>, number | undefined]>([
    [{ "retry-after": "3" }, 3000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT" }, 10_000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:10 GMT" }, 0],
    [{ "retry-after-ms": "20", "retry-after": "3" }, 20],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-4" }, 0],
    [{ "retry-after": "99999999999999999" }, undefined],
    [{ "retry-after": "Infinity" }, undefined],
    [{ "retry-after-ms": "Infinity", "retry-after": "3" }, undefined],
    [{}, undefined],
  ])("%j gives %s ms", (given, expected) => expect(retryAfterMs(headers(given), now)).toBe(expected));

  test("is undefined for an answer without headers", () =>
    expect(retryAfterMs(undefined, now)).toBeUndefined());
});

describe("nextDelay", () => {
  test("grows up to a minute, minus a random quarter at most", () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempt) => nextDelay({ kind: "server", attempt }, 0));
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(nextDelay({ kind: "server", attempt: 1 }, 1)).toBe(750);
  });

  test("is never shorter than the server asks", () => {
    const asked = { kind: "rate_limited", attempt: 5, retryAfterMs: 9000 } as const;
    expect(nextDelay(asked, 0)).toBe(9000);
    expect(nextDelay(asked, 1)).toBe(11_250);
  });

  test("is the usual delay if the server asks for no delay or for a time that has passed", () => {
    const asked = { kind: "rate_limited", attempt: 3, retryAfterMs: 0 } as const;
    expect([nextDelay(asked, 0), nextDelay(asked, 1)]).toEqual([4000, 3000]);
  });

  test.each([400, 4_000, 60_000])(
    "spreads the agents of a team over a quarter of a wait of %i ms",
    (wait) => {
      const delays = Array.from({ length: 20 }, (_, agent) =>
        nextDelay({ kind: "rate_limited", attempt: 1, retryAfterMs: wait }, agent / 19),
      ) as number[];
      expect([Math.min(...delays), Math.max(...delays)]).toEqual([wait, wait * 1.25]);
    },
  );

  test.each([
    ["an invalid key", { kind: "auth", attempt: 1 }],
    ["an invalid request", { kind: "invalid_request", attempt: 1 }],
    ["the last attempt", { kind: "server", attempt: MAX_ATTEMPTS }],
    ["a delay that is too long", { kind: "rate_limited", attempt: 1, retryAfterMs: 16 * 60_000 }],
    ["the server's refusal of retries", { kind: "server", attempt: 1, shouldRetry: false }],
  ] as const)("is undefined after %s", (_, failed) => expect(nextDelay(failed, 0)).toBeUndefined());
});
