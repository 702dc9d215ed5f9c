/** Judges the tests of a run by all their attempts. Pure. */
import { type OuterError, type RunResults, type TestResult, titleOf } from "./results.ts";

/** Maximum runs of a test in all: a failed one runs again. */
export const MAX_ATTEMPTS = 3;
/** Maximum unsteady tests of a run; with more, the run fails. */
export const MAX_UNSTEADY = 10;

/** A test or file with the first line of its last error. */
export interface Finding {
  readonly title: string;
  readonly error: string;
}

export interface Verdict {
  readonly passed: number;
  readonly failed: readonly Finding[];
  /** Failed in some attempts, passed in another. */
  readonly unsteady: readonly Finding[];
  readonly quarantined: readonly Finding[];
  readonly skipped: readonly string[];
}

/**
 * Returns the files that must run again, alone: those with a failed test that has not passed yet, or with an error outside
 * their tests. Returns none if so much failed that the run fails even if they pass.
 */
export function filesToRepeat(
  attempts: readonly RunResults[],
  quarantine: ReadonlySet<string>,
): readonly string[] {
  const { failed, unsteady } = judge(attempts, quarantine);
  if (failed.length + unsteady.length > MAX_UNSTEADY) return [];
  const titles = new Set(failed.map(({ title }) => title));
  const files = attempts.flatMap(({ tests, errors }) => [
    ...tests.filter((test) => titles.has(titleOf(test))).map(({ file }) => file),
    ...errors.flatMap(({ file }) => (file !== undefined && titles.has(file) ? [file] : [])),
  ]);
  return [...new Set(files)];
}

/**
 * Judges all tests by their attempts. A test that passed once has not failed. An error outside a file's tests is not a failure if it
 * did not recur in a later attempt.
 * @param attempts the results of the whole run, then of the repeated files
 * @param quarantine titles
 */
export function judge(attempts: readonly RunResults[], quarantine: ReadonlySet<string>): Verdict {
  const failed: Finding[] = [];
  const unsteady: Finding[] = [];
  const quarantined: Finding[] = [];
  const skipped: string[] = [];
  let passed = 0;
  for (const results of attemptsOfEach(attempts)) {
    const [first] = results as [TestResult, ...TestResult[]];
    const title = titleOf(first);
    const error = results.flatMap(({ errors }) => errors).at(-1);
    const isPassed = results.some(({ state }) => state === "passed");
    if (results.every(({ state }) => state === "skipped")) skipped.push(title);
    else if (quarantine.has(title)) quarantined.push({ title, error: error ?? "passed" });
    else if (!isPassed) failed.push({ title, error: error ?? "no error was reported" });
    else {
      passed += 1;
      if (error !== undefined) unsteady.push({ title, error });
    }
  }
  for (const { file, error, isGone } of outerErrors(attempts)) {
    const finding = { title: file ?? "outside every test", error };
    (isGone ? unsteady : failed).push(finding);
  }
  return { passed, failed, unsteady, quarantined, skipped };
}

/** Returns why unsteady tests fail a run. */
export function unsteadyFlaws(unsteady: readonly Finding[]): readonly string[] {
  const many =
    unsteady.length > MAX_UNSTEADY
      ? [`unsteady: ${unsteady.length} tests, at most ${MAX_UNSTEADY} are allowed`]
      : [];
  const units = unsteady.filter(({ title }) => title.startsWith("test/unit/"));
  return [...many, ...units.map(({ title }) => `unsteady below test/unit: ${title}`)];
}

/** Returns the attempts of each test. Tests of one file may share a title; their order is the same in each attempt. */
function attemptsOfEach(attempts: readonly RunResults[]): readonly (readonly TestResult[])[] {
  const all = new Map<string, TestResult[]>();
  for (const { tests } of attempts) {
    const counts = new Map<string, number>();
    for (const test of tests) {
      const title = titleOf(test);
      const number = (counts.get(title) ?? 0) + 1;
      counts.set(title, number);
      const key = `${number} ${title}`;
      all.set(key, [...(all.get(key) ?? []), test]);
    }
  }
  return [...all.values()];
}

interface JudgedError extends OuterError {
  readonly isGone: boolean;
}

/** Returns the errors outside tests, one for each file. */
function outerErrors(attempts: readonly RunResults[]): readonly JudgedError[] {
  const all = attempts.flatMap(({ errors }) => errors);
  const files = [...new Set(all.map(({ file }) => file))];
  return files.flatMap((file) => {
    const last = all.findLast((error) => error.file === file);
    // An attempt of a file contains its tests, unless the file could not be loaded.
    const latest = attempts.findLast(({ tests }) => tests.some((test) => test.file === file));
    const isGone = latest?.errors.every((error) => error.file !== file) ?? false;
    return last === undefined ? [] : [{ ...last, isGone: file !== undefined && isGone }];
  });
}
