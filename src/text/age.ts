const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns a length of time in its largest unit: `12 s`, `5 min`, `3 h`, `4 d`. @param ms milliseconds */
export function shortAge(ms: number): string {
  if (ms >= DAY) return `${Math.floor(ms / DAY)} d`;
  if (ms >= HOUR) return `${Math.floor(ms / HOUR)} h`;
  if (ms >= MINUTE) return `${Math.floor(ms / MINUTE)} min`;
  return `${Math.max(0, Math.floor(ms / 1_000))} s`;
}
