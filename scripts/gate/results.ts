/** The results of one run of vitest, as `reporter.ts` writes them. */
export interface RunResults {
  readonly tests: readonly TestResult[];
  /** Errors outside every test. */
  readonly errors: readonly OuterError[];
}

export interface TestResult {
  /** Relative to the checkout. */
  readonly file: string;
  /** The titles from the outermost `describe` to the test, joined by " > ". */
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped";
  /** The first line of each error. A test that Vitest retries can pass and have errors. */
  readonly errors: readonly string[];
}

export interface OuterError {
  /** Undefined if the file is unknown. */
  readonly file?: string | undefined;
  readonly error: string;
}

/** Returns the text by which the quarantine and the last lines name a test. */
export function titleOf({ file, name }: Pick<TestResult, "file" | "name">): string {
  return `${file} > ${name}`;
}
