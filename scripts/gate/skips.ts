/** Tests that may be skipped in CI: `test/skips.json`. */
import { readFileSync } from "node:fs";

export interface AllowedSkip {
  /** File and name, as the last lines of `scripts/test` name a test. */
  readonly test: string;
  readonly reason: string;
}

/** Reads the allowed skips. @throws Error if the file is not a list of them */
export function readSkips(path: string): readonly AllowedSkip[] {
  const skips: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!Array.isArray(skips) || !skips.every(isSkip))
    throw new Error(`${path} must be a list of {"test", "reason"}.`);
  return skips;
}

function isSkip(skip: unknown): skip is AllowedSkip {
  if (typeof skip !== "object" || skip === null) return false;
  const { test, reason } = skip as Record<string, unknown>;
  return typeof test === "string" && typeof reason === "string" && reason !== "";
}

/**
 * Returns the problems of the skipped tests of a run in CI: otherwise two machines would run two different suites.
 * @param all the titles of all tests
 */
export function skipFlaws(
  skipped: readonly string[],
  allowed: readonly AllowedSkip[],
  all: ReadonlySet<string>,
): readonly string[] {
  const titles = new Set(allowed.map(({ test }) => test));
  const unlisted = skipped.filter((title) => !titles.has(title));
  const unknown = [...titles].filter((title) => !all.has(title));
  return [
    ...unlisted.map((title) => `not in test/skips.json, but skipped: ${title}`),
    ...unknown.map((title) => `skips: no test has this name: ${title}`),
  ];
}
