import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { SerializedError } from "vitest";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import type { OuterError, RunResults, TestResult } from "./results.ts";

/** Writes the results of a run, as {@link RunResults}, to the file that GATE_RESULTS names. */
export default class GateReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const errors = [...modules.flatMap(loadErrors), ...unhandled.map(outerError)];
    const tests = modules.flatMap((module) => [...module.children.allTests()].map(resultOf));
    const results: RunResults = { tests, errors };
    writeFileSync(String(process.env.GATE_RESULTS), JSON.stringify(results));
  }
}

function resultOf(test: TestCase): TestResult {
  const { state, errors = [] } = test.result();
  return {
    file: test.module.relativeModuleId,
    name: test.fullName,
    // A pending test did not end; its worker crashed, or the run was cancelled.
    state: state === "pending" ? "failed" : state,
    errors: state === "pending" ? ["It did not end."] : errors.map(firstLine),
  };
}

/** Errors while a file was loaded, and errors of its hooks: no test has them. */
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
