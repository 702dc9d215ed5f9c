/** Tests that run and are reported, but do not decide: `test/quarantine.json`. */
import { readFileSync } from "node:fs";

export interface QuarantinedTest {
  /** File and name, as the last lines of `scripts/test` name a test. */
  readonly test: string;
  readonly reason: string;
  /** The day of its entry, `yyyy-mm-dd`. */
  readonly since: string;
}

export const MOST_ENTRIES = 10;
export const MOST_DAYS = 14;

const DAY_MS = 86_400_000;

/** Reads the quarantine. @throws Error if it is not a list of entries */
export function readQuarantine(path: string): readonly QuarantinedTest[] {
  const entries: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!Array.isArray(entries) || !entries.every(isEntry))
    throw new Error(`${path} must be a list of {"test", "reason", "since": "yyyy-mm-dd"}.`);
  return entries;
}

function isEntry(entry: unknown): entry is QuarantinedTest {
  if (typeof entry !== "object" || entry === null) return false;
  const { test, reason, since } = entry as Record<string, unknown>;
  return (
    typeof test === "string" && typeof reason === "string" && reason !== "" && !Number.isNaN(dayOf(since))
  );
}

function dayOf(since: unknown): number {
  return typeof since === "string" && /^\d{4}-\d\d-\d\d$/.test(since) ? Date.parse(since) : Number.NaN;
}

/**
 * Returns the problems of the quarantine.
 * @param ran the titles of all tests of a whole run; undefined if only some ran
 */
export function quarantineFlaws(
  entries: readonly QuarantinedTest[],
  ran: ReadonlySet<string> | undefined,
  now: number,
): readonly string[] {
  const flaws =
    entries.length > MOST_ENTRIES
      ? [`quarantine: it has ${entries.length} entries, at most ${MOST_ENTRIES} may be`]
      : [];
  for (const { test, since } of entries) {
    const days = Math.floor((now - dayOf(since)) / DAY_MS);
    if (days < 0) flaws.push(`quarantine: an entry begins in the future, on ${since}: ${test}`);
    if (days > MOST_DAYS)
      flaws.push(`quarantine: an entry is ${days} days old, at most ${MOST_DAYS} may be: ${test}`);
    if (ran !== undefined && !ran.has(test)) flaws.push(`quarantine: no test has this name: ${test}`);
  }
  return flaws;
}
