/** Judges the tests of a run by all their tries. Pure. */
import { type OuterError, type RunResults, type TestResult, titleOf } from "./results.ts";

/** A failed test runs again up to this many times in all. */
export const MAX_TRIES = 3;
/** With more unsteady tests than these, a run fails. */
export const MAX_UNSTEADY = 10;

/** A test or file with the first line of its last error. */
export interface Finding {
  readonly title: string;
  readonly error: string;
}

export interface Verdict {
  readonly passed: number;
  readonly failed: readonly Finding[];
  /** Failed in some tries, passed in another. */
  readonly unsteady: readonly Finding[];
  readonly quarantined: readonly Finding[];
  readonly skipped: readonly string[];
}

/**
 * Returns the files that have to run again, alone: those with a failed test that has not passed yet, or with an error outside
 * their tests. Returns none if so much failed that the run is red even if they pass.
 */
export function filesToRepeat(
  tries: readonly RunResults[],
  quarantine: ReadonlySet<string>,
): readonly string[] {
  const { failed, unsteady } = judge(tries, quarantine);
  if (failed.length + unsteady.length > MAX_UNSTEADY) return [];
  const titles = new Set(failed.map(({ title }) => title));
  const files = tries.flatMap(({ tests, errors }) => [
    ...tests.filter((test) => titles.has(titleOf(test))).map(({ file }) => file),
    ...errors.flatMap(({ file }) => (file !== undefined && titles.has(file) ? [file] : [])),
  ]);
  return [...new Set(files)];
}

/**
 * Judges all tests by their tries. A test that passed once has not failed. An error outside a file's tests is not a failure if a
 * later try of that file did not have it.
 * @param tries the results of the whole run, then of the repeated files
 * @param quarantine titles
 */
export function judge(tries: readonly RunResults[], quarantine: ReadonlySet<string>): Verdict {
  const failed: Finding[] = [];
  const unsteady: Finding[] = [];
  const quarantined: Finding[] = [];
  const skipped: string[] = [];
  let passed = 0;
  for (const results of triesOfEach(tries)) {
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
  for (const { file, error, isGone } of outerErrors(tries)) {
    const finding = { title: file ?? "outside every test", error };
    (isGone ? unsteady : failed).push(finding);
  }
  return { passed, failed, unsteady, quarantined, skipped };
}

/** Returns why unsteady tests fail a run. */
export function unsteadyFlaws(unsteady: readonly Finding[]): readonly string[] {
  const many =
    unsteady.length > MAX_UNSTEADY
      ? [`unsteady: ${unsteady.length} tests are, at most ${MAX_UNSTEADY} may be`]
      : [];
  const units = unsteady.filter(({ title }) => title.startsWith("test/unit/"));
  return [...many, ...units.map(({ title }) => `unsteady below test/unit: ${title}`)];
}

/** Returns the tries of each test. Tests of one file may share a title; their order is the same in each try. */
function triesOfEach(tries: readonly RunResults[]): readonly (readonly TestResult[])[] {
  const all = new Map<string, TestResult[]>();
  for (const { tests } of tries) {
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
function outerErrors(tries: readonly RunResults[]): readonly JudgedError[] {
  const all = tries.flatMap(({ errors }) => errors);
  const files = [...new Set(all.map(({ file }) => file))];
  return files.flatMap((file) => {
    const last = all.findLast((error) => error.file === file);
    // The tries of a file that ran again contain its tests, unless it could not be loaded.
    const latest = tries.findLast(({ tests }) => tests.some((test) => test.file === file));
    const isGone = latest?.errors.every((error) => error.file !== file) ?? false;
    return last === undefined ? [] : [{ ...last, isGone: file !== undefined && isGone }];
  });
}
