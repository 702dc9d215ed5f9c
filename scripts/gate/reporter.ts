import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { SerializedError } from "vitest";
import type { Reporter, TestCase, TestModule, TestSpecification } from "vitest/node";
import type { OuterError, RunResults, TestResult } from "./results.ts";

/** Writes the results of a run, as {@link RunResults}, to the file that GATE_RESULTS names. */
export default class GateReporter implements Reporter {
  #files: readonly TestSpecification[] = [];

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#files = files;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const cutOff = this.#files.filter(({ testModule }) => !hasEnded(testModule));
    const ofWorkers = unhandled.filter(isOfWorker);
    const others = unhandled.filter((error) => !isOfWorker(error));
    const errors = [
      ...modules.flatMap(loadErrors),
      ...cutOff.map((file) => cutOffError(file, ofWorkers)),
      // Vitest does not name the file of a worker that ended, but each such end belongs to a file that was cut off.
      ...[...others, ...ofWorkers.slice(cutOff.length)].map(outerError),
    ];
    const results: RunResults = { tests: modules.flatMap(resultsOf), errors };
    writeFileSync(String(process.env.GATE_RESULTS), JSON.stringify(results));
  }
}

/** Returns whether a file ran to its end. If not (it never began, or its worker ended), it must run again. */
function hasEnded(module: TestModule | undefined): boolean {
  const state = module?.state() ?? "queued";
  return state !== "queued" && state !== "pending";
}

/** Returns whether an error means that a worker ended or did not start. */
function isOfWorker({ message }: SerializedError): boolean {
  return /^\[vitest-pool/.test(message);
}

function cutOffError(
  { project, moduleId }: TestSpecification,
  reasons: readonly SerializedError[],
): OuterError {
  const why = new Set(reasons.map((error) => firstLine(error.cause ?? error).replace(/^Caused by: /, "")));
  return {
    file: relative(project.config.root, moduleId),
    error: `The file did not end: ${[...why].join("; ") || "no reason was reported"}`,
  };
}

/** Returns the results of a file, without the tests that the end of its worker cut off: the next attempt runs them. */
function resultsOf(module: TestModule): readonly TestResult[] {
  const tests = [...module.children.allTests()];
  return tests.filter((test) => hasEnded(module) || test.result().state !== "pending").map(resultOf);
}

function resultOf(test: TestCase): TestResult {
  const { state, errors = [] } = test.result();
  return {
    file: test.module.relativeModuleId,
    name: test.fullName,
    // A test that is still pending when its file has ended was cancelled with the run.
    state: state === "pending" ? "failed" : state,
    errors: state === "pending" ? ["The test did not end."] : errors.map(firstLine),
  };
}

/** Returns the errors while a file was loaded, and those of its hooks, which belong to no test. */
function loadErrors(module: TestModule): OuterError[] {
  const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  return [...module.errors(), ...suites].map((error) => ({
    file: module.relativeModuleId,
    error: firstLine(error),
  }));
}

function outerError(error: SerializedError): OuterError {
  const path: unknown = error.VITEST_TEST_PATH;
  const file = typeof path === "string" ? relative(process.cwd(), path) : undefined;
  return { file, error: firstLine(error) };
}

function firstLine({ name, message }: SerializedError): string {
  return `${name ?? "Error"}: ${message}`.split("\n", 1)[0] ?? "";
}
