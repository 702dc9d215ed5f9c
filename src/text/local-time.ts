/**
 * Returns a time in the zone of this machine: `2026-11-23 23:25`, or with seconds.
 * @param at an ISO text, or milliseconds since the epoch; a text that is not a time is returned unchanged
 */
export function localTime(at: string | number, precision: "minutes" | "seconds" = "minutes"): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const minute = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return precision === "minutes" ? `${day} ${minute}` : `${day} ${minute}:${two(date.getSeconds())}`;
}

/** Returns a time for JSON; null without a time, and for a time outside the calendar. @param at milliseconds since the epoch */
export function isoTime(at: number | null | undefined): string | null {
  const date = new Date(at ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
