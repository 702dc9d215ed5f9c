import { textStart } from "../text/characters/cut-text.ts";
import type { ChannelTurnEnd, ReportedLimit } from "./channel.ts";

/** Matches the limits of an account. Limits of a context or an output do not count: waiting does not help. */
const LIMIT =
  /\b(?:usage|session|weekly|daily|hourly|monthly|rate|request|message|messages|account|[57][ -](?:hour|day))[ _-]?limits?(?![a-z])|\bhit your (?:[\w-]+ )?limit\b|\bquota\b|\bcredit balance is too low\b|\bout of credits?\b|\btoo many requests\b|\bresource[_ ]exhausted\b|\binsufficient_quota\b|\bout of (?:[\w-]+ )?messages\b|\b(?:http|error|status|code)\W{0,3}429\b|\b429\W{1,3}too\b/i;

/** Maximum time in milliseconds until a limit ends: a later end is ignored. */
const MAX_MS = 40 * 24 * 3_600_000;
/** Maximum characters of a failure that are read: a program may report anything. */
const MAX_TEXT = 4_000;

/**
 * Returns the limit of an account that a failure of a third-party program reports; undefined for another failure. The end of the
 * limit is read from its words: `resets 7pm (Europe/London)`, `try again in 3 hours 5 minutes`, `limit reached|1760000400`.
 * @param now milliseconds since the epoch
 */
export function reportedLimit(text: string, now: number): ReportedLimit | undefined {
  const start = textStart(text, MAX_TEXT);
  if (!LIMIT.test(start)) return undefined;
  const at = epochIn(start) ?? spanIn(start, now) ?? timeIn(start, now);
  return at !== undefined && at > now && at - now < MAX_MS ? { resumeAt: at } : {};
}

/** Returns the limit that ended a turn; undefined for any other end. */
export function limitOf(
  { outcome, failure = "", limit }: ChannelTurnEnd,
  now: number,
): ReportedLimit | undefined {
  if (outcome !== "failed") return undefined;
  const reported = reportedLimit(failure, now);
  if (limit === undefined) return reported;
  const { resumeAt } = limit;
  return resumeAt !== undefined && resumeAt > now && resumeAt - now < MAX_MS ? limit : (reported ?? {});
}

function epochIn(text: string): number | undefined {
  const [, seconds] = /\|(\d{10})(?!\d)/.exec(text) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^ms|^milli/, 1],
  [/^s/, 1_000],
  [/^m/, 60_000],
  [/^h/, 3_600_000],
  [/^d/, 86_400_000],
];
const PART = String.raw`\d{1,6}(?:\.\d{1,6})? ?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b`;
const SPAN = new RegExp(`\\b(?:in|after) (${PART}(?:,? ?(?:and )?${PART}){0,4})`, "i");

/** Returns the end of a time span such as `in 3 days 4 hours`. */
function spanIn(text: string, now: number): number | undefined {
  const [, span] = SPAN.exec(text) ?? [];
  if (span === undefined) return undefined;
  const parts = span.matchAll(/(\d+(?:\.\d+)?) ?([a-z]+)/gi);
  const ms = [...parts].reduce((sum, [, count, unit = ""]) => {
    const [, each = 0] = UNITS.find(([name]) => name.test(unit.toLowerCase())) ?? [];
    return sum + Number(count) * each;
  }, 0);
  return now + ms;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DATE = String.raw`(?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?)?`;
const CLOCK = String.raw`(\d{1,2})(?::(\d{2}))?(?::\d{2})? ?([ap]m)?`;
const ZONE = String.raw`(?: \(?([A-Z][\w+-]*(?:/[\w+-]+){1,2}|UTC|GMT)\)?)?`;
const TIME = new RegExp(`\\b(?:resets?|try again|available)(?: on| at)?:? ${DATE}${CLOCK}${ZONE}`, "i");

/**
 * Reads a time of day such as `resets Apr 10, 7pm (Europe/London)`. Returns the next such time, in the local zone if the
 * text names none.
 */
function timeIn(text: string, now: number): number | undefined {
  const [whole, month, day, year, hour, minute, half, zone] = TIME.exec(text) ?? [];
  // A number alone is not a time of day.
  if (whole === undefined || (minute === undefined && half === undefined)) return undefined;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  const clock = [hours, Number(minute ?? 0)] as const;
  const today = new Date(now);
  if (month === undefined) {
    const days = [-1, 0, 1, 2].map((days) => {
      const date = new Date(now + days * 86_400_000);
      return timeAt([date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()], clock, zone);
    });
    return days.find((at) => at !== undefined && at > now);
  }
  const index = MONTHS.indexOf(month.toLowerCase());
  if (index < 0) return undefined;
  const years = year === undefined ? [today.getUTCFullYear(), today.getUTCFullYear() + 1] : [Number(year)];
  return years
    .map((one) => timeAt([one, index, Number(day)], clock, zone))
    .find((at) => at !== undefined && at > now);
}

/** Returns milliseconds since the epoch; undefined for an unknown zone. */
function timeAt(
  [year, month, day]: readonly [number, number, number],
  [hours, minutes]: readonly [number, number],
  zone: string | undefined,
): number | undefined {
  if (zone === undefined) return new Date(year, month, day, hours, minutes).getTime();
  const utc = Date.UTC(year, month, day, hours, minutes);
  const offset = offsetOf(zone, utc);
  return offset === undefined ? undefined : utc - offset;
}

/** Returns the milliseconds that a zone is ahead of UTC about this time. */
function offsetOf(zone: string, at: number): number | undefined {
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours, minutes] = /^GMT(?:([+-])(\d{2}):(\d{2}))?$/.exec(name) ?? [];
    const ms = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
    return sign === "-" ? -ms : ms;
  } catch {
    // A zone that does not exist.
    return undefined;
  }
}
