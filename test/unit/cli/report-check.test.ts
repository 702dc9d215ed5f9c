import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { REPORT_MARK, reportCheck } from "../../../src/cli/audit-check.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

it("holds an audit to the report that it was for: one that is missing or of an earlier run is none", () => {
  const report = join(temporaryDirectory(), "AUDIT.md");
  const since = 1_800_000_000_000;
  const check = reportCheck(report, since);
  const failure = expect.objectContaining({ code: "MODEL_ERROR" });
  expect(check).toThrow(failure);
  writeFileSync(report, `${REPORT_MARK}\n`);
  utimesSync(report, since / 1000 - 60, since / 1000 - 60);
  expect(check).toThrow(failure);
  utimesSync(report, since / 1000 + 1, since / 1000 + 1);
  expect(check).not.toThrow();
  writeFileSync(report, "somebody else's");
  expect(check).toThrow(failure);
});
