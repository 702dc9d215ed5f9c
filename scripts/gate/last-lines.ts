import type { Finding, Verdict } from "./verdict.ts";

/** A failed check before the tests: lint, types, layers, cuts, a count of the bench. */
export interface CheckResult {
  readonly name: string;
  /** What failed, with additional lines indented; empty if the check passed. */
  readonly flaws: readonly string[];
  /** Failures of one attempt that did not recur in the next. */
  readonly unsteady?: readonly string[];
}

export interface Summary {
  /** Ends in `N passed, N failed, N skipped`. */
  readonly lines: readonly string[];
  readonly isGreen: boolean;
}

/**
 * Returns the last lines of a run: everything that failed, by name, and the counts.
 * @param brokenRules about the quarantine, skipped and unsteady tests
 */
export function summarize(
  checks: readonly CheckResult[],
  tests: Verdict,
  brokenRules: readonly string[],
): Summary {
  const failures = [
    ...checks.flatMap(({ name, flaws }) => flaws.map((flaw) => `${name}: ${flaw}`)),
    ...brokenRules,
    ...tests.failed.map(lineOf),
  ];
  const passed = tests.passed + checks.filter(({ flaws }) => flaws.length === 0).length;
  const { quarantined, unsteady, skipped } = tests;
  return {
    lines: [
      ...skipped.map((title) => `skipped: ${title}`),
      ...failures.map((line) => `failed: ${line}`),
      ...quarantined.map((finding) => `quarantined: ${lineOf(finding)}`),
      ...checks.flatMap(({ name, unsteady = [] }) => unsteady.map((text) => `unsteady: ${name}: ${text}`)),
      ...unsteady.map((finding) => `unsteady: ${lineOf(finding)}`),
      `${passed} passed, ${failures.length} failed, ${skipped.length} skipped`,
    ],
    isGreen: failures.length === 0,
  };
}

function lineOf({ title, error }: Finding): string {
  return `${title}: ${error}`;
}
