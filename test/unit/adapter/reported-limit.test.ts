import { expect, test } from "vitest";
import { reportedLimit } from "../../../src/adapter/reported-limit.ts";
import { growth, MAX_GROWTH } from "../../support/timing/growth.ts";

const NOW = Date.UTC(2026, 3, 9, 12, 0);
const at = (day: number, hours: number, minutes = 0): number => Date.UTC(2026, 3, day, hours, minutes);

test.each([
  ["Claude AI usage limit reached|1775779200", 1_775_779_200_000],
  ["You've hit your session limit · resets 7pm (Europe/London)", at(9, 18)],
  ["You've hit your limit · resets 4:50am (Europe/Rome)", at(10, 2, 50)],
  ["You've hit your limit · resets Apr 10, 7pm (America/New_York)", at(10, 23)],
  ["Claude usage limit reached. Your limit will reset at 9am (UTC).", at(10, 9)],
  ["You've hit your usage limit. Try again in 1 day 2 hours 30 minutes.", at(10, 14, 30)],
  ["You’re out of Codex messages. Your rate limit resets on Apr 12, 2026, 1:42 PM UTC.", at(12, 13, 42)],
  ["Quota exceeded. Please retry in 90s.", NOW + 90_000],
  ["429 Too Many Requests: retry after 1500ms", NOW + 1_500],
])("reportedLimit › reads when the limit ends from %j", (text, resumeAt) => {
  expect(reportedLimit(text, NOW)).toEqual({ resumeAt });
});

test.each([
  "RESOURCE_EXHAUSTED",
  "Credit balance is too low",
  "You've hit your usage limit. Upgrade to Pro, or wait for limits to reset.",
  "You've hit your limit · resets 7pm (Mars/Base)",
  "rate_limit_error: This request would exceed your account's rate limit.",
  "Claude AI usage limit reached|1000000000",
  "You have exceeded your quota, try again in 900000 days",
])("reportedLimit › recognizes a limit without an end in %j", (text) => {
  expect(reportedLimit(text, NOW)).toEqual({});
});

test.each([
  "The context limit is exceeded.",
  "maximum token limit reached (4290 of 4096)",
  "exit code 429000",
  "connect ECONNREFUSED 127.0.0.1:4290",
  "",
])("reportedLimit › does not take %j for a limit", (text) => {
  expect(reportedLimit(text, NOW)).toBeUndefined();
});

test("reportedLimit › reads a time of day in the local time zone if no zone is named", () => {
  const local = new Date(NOW);
  local.setHours(local.getHours() + 2, 15, 0, 0);
  const clock = `${local.getHours()}:15`;
  expect(reportedLimit(`usage limit: resets at ${clock}`, NOW)).toEqual({ resumeAt: local.getTime() });
});

test.each(["in 1 s ", "resets jan 1 ", "quota 1:1 ", "|1"])(
  "reportedLimit › does not take quadratic time for a repeated %j",
  (text) => {
    const repeated = (size: number): string => `quota ${text.repeat(size)}`;
    expect(growth(12_500, repeated, (long) => reportedLimit(long, NOW))).toBeLessThan(MAX_GROWTH);
  },
);
