import { expect, test } from "vitest";
import { limitResetMs } from "../../../../src/agent/model/rate-limits.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const UNIFIED = "anthropic-ratelimit-unified-reset";

test.each<[Record<string, string>, string, number | undefined]>([
  [{ [UNIFIED]: "1767225660" }, "", 60_000],
  [{ [UNIFIED]: "99999999999999999999" }, "", undefined],
  [{}, "try again in 2h 30m", 9_000_000],
  [{}, "try again in 99999999999999999 days", undefined],
])("limitResetMs › reads %j and %j, and ignores a time beyond any date", (headers, message, expected) => {
  expect(limitResetMs(new Headers(headers), message, NOW)).toBe(expected);
});
