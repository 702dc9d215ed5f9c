/** The headers of an HTTP response. */
export interface Headers {
  get(name: string): string | null;
}

/** Quantities that the Messages API counts separately. */
const COUNTED = ["requests", "tokens", "input-tokens", "output-tokens"] as const;

/**
 * Returns the milliseconds from `now` until a limit ends: from the headers of an answer, else from the error message. Undefined if
 * neither names a time.
 */
export function limitResetMs(headers: Headers | undefined, message: string, now: number): number | undefined {
  const at = resetInHeaders(headers) ?? dateIn(message);
  return waitOf(at === undefined ? delayIn(message) : at - now, now);
}

/** Returns a wait in milliseconds, 0 if it is over; undefined if it is not a number, or its end is not a valid date. */
export function waitOf(ms: number | undefined, now: number): number | undefined {
  return ms === undefined || Number.isNaN(new Date(now + ms).getTime()) ? undefined : Math.max(0, ms);
}

/** Reads only the limits that are used up: the other limits did not cause the failure. */
function resetInHeaders(headers: Headers | undefined): number | undefined {
  const spent = COUNTED.filter((what) => headers?.get(`anthropic-ratelimit-${what}-remaining`) === "0");
  const resets = spent.map((what) => timeOf(headers?.get(`anthropic-ratelimit-${what}-reset`)));
  const known = [...resets, timeOf(headers?.get("anthropic-ratelimit-unified-reset"))].filter(
    (at) => at !== undefined,
  );
  return known.length === 0 ? undefined : Math.max(...known);
}

/** Reads a time as a date or in seconds since the epoch. */
function timeOf(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const seconds = Number(text);
  const at = Number.isNaN(seconds) ? Date.parse(text) : seconds * 1_000;
  return Number.isNaN(at) ? undefined : at;
}

/** Reads `…|1763906400` and `regain access on 2026-12-01 at 00:00 UTC`. A time without a time zone is ambiguous, so it is ignored. */
function dateIn(message: string): number | undefined {
  const seconds = /\|(\d{10})\b/.exec(message)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1_000;
  const [, day, time, zone] =
    /(\d{4}-\d\d-\d\d)(?:T| at | )(\d\d:\d\d(?::\d\d)?)(?:\.\d+)? ?(UTC|GMT|Z|[+-]\d\d:\d\d)/.exec(message) ??
    [];
  if (day === undefined) return undefined;
  const at = Date.parse(`${day}T${time}${/^[+-]/.test(zone ?? "") ? zone : "Z"}`);
  return Number.isNaN(at) ? undefined : at;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DELAY =
  /\b(?:again|retry|resets?|available)\b[^.]{0,40}?\b(?:in|after) ((?:\d+(?:\.\d+)? ?(?:ms|[dhms]|days?|hours?|minutes?|seconds?)\b ?)+)/i;

/** Reads `try again in 2h 30m` and `resets in 20 minutes`. */
function delayIn(message: string): number | undefined {
  const text = DELAY.exec(message)?.[1];
  if (text === undefined) return undefined;
  let ms = 0;
  for (const [, count, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?) ?(ms|[dhms])/gi))
    ms += Number(count) * (UNIT_MS[unit.toLowerCase()] ?? 0);
  return ms;
}
