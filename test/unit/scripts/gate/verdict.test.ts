import { describe, expect, it } from "vitest";
import type { RunResults, TestResult } from "../../../../scripts/gate/results.ts";
import { filesToRepeat, judge, MAX_UNSTEADY, unsteadyFlaws } from "../../../../scripts/gate/verdict.ts";

const NONE = new Set<string>();

function result(file: string, name: string, state: TestResult["state"] = "passed"): TestResult {
  return { file, name, state, errors: state === "failed" ? [`Error: ${name} failed`] : [] };
}

function run(...tests: readonly TestResult[]): RunResults {
  return { tests, errors: [] };
}

describe("judge", () => {
  it("counts a test as failed when it passed in no attempt", () => {
    const failed = run(result("a", "x", "failed"));
    expect(judge([failed, failed, failed], NONE)).toEqual({
      ...{ passed: 0, unsteady: [], quarantined: [], skipped: [] },
      failed: [{ title: "a > x", error: "Error: x failed" }],
    });
  });

  it("counts a test as unsteady when it failed and then passed alone", () => {
    const { passed, failed, unsteady } = judge(
      [run(result("a", "x", "failed"), result("b", "y")), run(result("a", "x"))],
      NONE,
    );
    expect([passed, failed, unsteady]).toEqual([2, [], [{ title: "a > x", error: "Error: x failed" }]]);
  });

  it("counts a test as unsteady when it passed at first and failed when its file was repeated", () => {
    const first = run(result("a", "x", "failed"), result("a", "y"));
    const second = run(result("a", "x"), result("a", "y", "failed"));
    expect(judge([first, second], NONE).unsteady.map(({ title }) => title)).toEqual(["a > x", "a > y"]);
  });

  it("does not confuse two tests with one title", () => {
    const both = run(result("a", "x"), result("a", "x", "failed"));
    expect(judge([both, both, both], NONE)).toMatchObject({ passed: 1, failed: [{ title: "a > x" }] });
  });

  it("counts a test in quarantine neither as passed nor as failed", () => {
    const { passed, failed, unsteady, quarantined } = judge(
      [run(result("a", "x", "failed"), result("a", "y"))],
      new Set(["a > x", "a > y"]),
    );
    expect([passed, failed, unsteady]).toEqual([0, [], []]);
    expect(quarantined).toEqual([
      { title: "a > x", error: "Error: x failed" },
      { title: "a > y", error: "passed" },
    ]);
  });

  it("lists skipped tests by name", () => {
    expect(judge([run(result("a", "x", "skipped"))], NONE)).toMatchObject({ passed: 0, skipped: ["a > x"] });
  });

  it("counts a file that cannot be loaded as failed", () => {
    const broken: RunResults = { tests: [], errors: [{ file: "a", error: "SyntaxError: no" }] };
    expect(judge([broken, broken], NONE).failed).toEqual([{ title: "a", error: "SyntaxError: no" }]);
  });

  it("counts an error outside the tests as unsteady when it is absent in a later attempt at its file", () => {
    const first = { ...run(result("a", "x")), errors: [{ file: "a", error: "Error: late" }] };
    const { failed, unsteady } = judge([first, run(result("a", "x"))], NONE);
    expect([failed, unsteady]).toEqual([[], [{ title: "a", error: "Error: late" }]]);
    expect(judge([first, run(result("b", "x"))], NONE).failed).toHaveLength(1);
  });

  it("counts an error without a file as failed", () => {
    const ended: RunResults = { tests: [], errors: [{ error: "vitest ended without results" }] };
    expect(judge([ended, run(result("a", "x"))], NONE).failed).toEqual([
      { title: "outside every test", error: "vitest ended without results" },
    ]);
  });
});

describe("filesToRepeat", () => {
  const failed = run(result("a", "x", "failed"), result("b", "y"), result("c", "z", "failed"));

  it("names each file with a failed test once", () => {
    expect(filesToRepeat([failed], NONE)).toEqual(["a", "c"]);
  });

  it("omits a file whose tests have passed since", () => {
    expect(filesToRepeat([failed, run(result("a", "x"))], NONE)).toEqual(["c"]);
  });

  it("omits a file whose failed test is in quarantine", () => {
    expect(filesToRepeat([failed], new Set(["a > x"]))).toEqual(["c"]);
  });

  it("names no file when so many tests failed that no attempt can make the run green", () => {
    const many = Array.from({ length: MAX_UNSTEADY + 1 }, (_, i) => result(`f${i}`, "x", "failed"));
    expect(filesToRepeat([run(...many)], NONE)).toEqual([]);
    expect(filesToRepeat([run(...many.slice(1))], NONE)).toHaveLength(MAX_UNSTEADY);
  });
});

describe("unsteadyFlaws", () => {
  const unsteady = (title: string) => ({ title, error: "e" });

  it("allows at most ten unsteady tests", () => {
    const ten = Array.from({ length: MAX_UNSTEADY }, (_, i) => unsteady(`test/e2e/${i}.test.ts > x`));
    expect(unsteadyFlaws(ten)).toEqual([]);
    expect(unsteadyFlaws([...ten, unsteady("test/e2e/a.test.ts > x")])).toEqual([
      "unsteady: 11 tests, at most 10 are allowed",
    ]);
  });

  it("allows no unsteady test below test/unit", () => {
    expect(unsteadyFlaws([unsteady("test/unit/a.test.ts > x")])).toEqual([
      "unsteady below test/unit: test/unit/a.test.ts > x",
    ]);
  });
});
