import type { Finding, Verdict } from "./verdict.ts";

/** A failed check before the tests: lint, types, layers, cuts, a count of the bench. */
export interface CheckResult {
  readonly name: string;
  /** What failed, with further lines indented; empty if it passed. */
  readonly flaws: readonly string[];
  /** Failures of one try that the next try did not have. */
  readonly unsteady?: readonly string[];
}

export interface Summary {
  /** Ends in `N passed, N failed, N skipped`. */
  readonly lines: readonly string[];
  readonly isGreen: boolean;
}

/**
 * Returns the last lines of a run: everything that failed, by name, and the counts.
 * @param broken the broken rules of the gate: about the quarantine, skipped and unsteady tests
 */
export function summarize(
  checks: readonly CheckResult[],
  tests: Verdict,
  broken: readonly string[],
): Summary {
  const failures = [
    ...checks.flatMap(({ name, flaws }) => flaws.map((flaw) => `${name}: ${flaw}`)),
    ...broken,
    ...tests.failed.map(written),
  ];
  const passed = tests.passed + checks.filter(({ flaws }) => flaws.length === 0).length;
  const { quarantined, unsteady, skipped } = tests;
  return {
    lines: [
      ...skipped.map((title) => `skipped: ${title}`),
      ...failures.map((line) => `failed: ${line}`),
      ...quarantined.map((finding) => `quarantined: ${written(finding)}`),
      ...checks.flatMap(({ name, unsteady = [] }) => unsteady.map((text) => `unsteady: ${name}: ${text}`)),
      ...unsteady.map((finding) => `unsteady: ${written(finding)}`),
      `${passed} passed, ${failures.length} failed, ${skipped.length} skipped`,
    ],
    isGreen: failures.length === 0,
  };
}

function written({ title, error }: Finding): string {
  return `${title}: ${error}`;
}
