/** Tests that run and are reported, but whose failures do not fail the run: `test/quarantine.json`. */
import { readList } from "./read-list.ts";

export interface QuarantinedTest {
  /** File and name, as the last lines of `scripts/test` name a test. */
  readonly test: string;
  readonly reason: string;
  /** The day of its entry, `yyyy-mm-dd`. */
  readonly since: string;
}

export const MAX_ENTRIES = 10;
export const MAX_DAYS = 14;

const DAY_MS = 86_400_000;

/** Reads the quarantine. @throws Error if it cannot be read or is not a list of entries */
export function readQuarantine(path: string): readonly QuarantinedTest[] {
  return readList(path, isEntry, '{"test", "reason", "since": "yyyy-mm-dd"}');
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
    entries.length > MAX_ENTRIES
      ? [`quarantine: it has ${entries.length} entries, at most ${MAX_ENTRIES} are allowed`]
      : [];
  for (const { test, since } of entries) {
    const days = Math.floor((now - dayOf(since)) / DAY_MS);
    if (days < 0) flaws.push(`quarantine: the date of an entry is in the future (${since}): ${test}`);
    if (days > MAX_DAYS)
      flaws.push(`quarantine: an entry is ${days} days old, at most ${MAX_DAYS} are allowed: ${test}`);
    if (ran !== undefined && !ran.has(test)) flaws.push(`quarantine: no test has this name: ${test}`);
  }
  return flaws;
}
