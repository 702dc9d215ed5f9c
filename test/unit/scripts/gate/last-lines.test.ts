import { expect, it } from "vitest";
import { summarize } from "../../../../scripts/gate/last-lines.ts";
import type { Verdict } from "../../../../scripts/gate/verdict.ts";

const CLEAN: Verdict = { passed: 3, failed: [], unsteady: [], quarantined: [], skipped: [] };

it("summarize › ends with the counts when everything passed", () => {
  const checks = [
    { name: "lint", flaws: [] },
    { name: "types", flaws: [] },
  ];
  expect(summarize(checks, CLEAN, [])).toEqual({ lines: ["5 passed, 0 failed, 0 skipped"], isGreen: true });
});

it("summarize › lists every failure, and the results that do not decide", () => {
  const { lines, isGreen } = summarize(
    [{ name: "bench", flaws: ["send loads: 9 bytes, the limit is ≤ 8"] }],
    {
      passed: 2,
      failed: [{ title: "test/a.test.ts > x", error: "Error: no" }],
      unsteady: [{ title: "test/b.test.ts > y", error: "Error: late" }],
      quarantined: [{ title: "test/c.test.ts > z", error: "passed" }],
      skipped: ["test/d.test.ts > w"],
    },
    ["quarantine: no test has this name: test/e.test.ts > v"],
  );
  expect(lines).toEqual([
    "skipped: test/d.test.ts > w",
    "failed: bench: send loads: 9 bytes, the limit is ≤ 8",
    "failed: quarantine: no test has this name: test/e.test.ts > v",
    "failed: test/a.test.ts > x: Error: no",
    "quarantined: test/c.test.ts > z: passed",
    "unsteady: test/b.test.ts > y: Error: late",
    "2 passed, 3 failed, 1 skipped",
  ]);
  expect(isGreen).toBe(false);
});

it("summarize › fails when only a rule of the gate is broken", () => {
  expect(summarize([], CLEAN, ["a rule"])).toEqual({
    lines: ["failed: a rule", "3 passed, 1 failed, 0 skipped"],
    isGreen: false,
  });
});
