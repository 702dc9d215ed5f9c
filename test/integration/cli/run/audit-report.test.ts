import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { REPORT_MARK, reportCheck } from "../../../../src/cli/run/audit-report.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

it("reportCheck fails if the report is missing, from another run or by another author", () => {
  const report = join(temporaryDirectory(), "AUDIT.md");
  const check = reportCheck(report, "run-1a2b");
  const failure = expect.objectContaining({ code: "MODEL_ERROR" });
  expect(check).toThrow(failure);
  writeFileSync(report, `${REPORT_MARK}\n<!-- run: run-ffff -->\n`);
  expect(check).toThrow(failure);
  writeFileSync(report, `${REPORT_MARK}\n<!-- run: run-1a2b -->\n# Audit\n`);
  expect(check).not.toThrow();
  writeFileSync(report, "somebody else's");
  expect(check).toThrow(failure);
});
