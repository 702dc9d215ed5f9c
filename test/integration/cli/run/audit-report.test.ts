import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { builtInNotes, checkAudit, REPORT_MARK, reportCheck } from "../../../../src/cli/run/audit-report.ts";
import { GIT_IDENTITY, git } from "../../../support/files/git.ts";
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

it("builtInNotes say that no model is set up only if there is none", () => {
  expect(builtInNotes("", false, false)).toEqual([expect.stringMatching(/^No model is set up: /)]);
  expect(builtInNotes("", false, true)).toEqual([expect.stringMatching(/^The built-in audit plays/)]);
});

it("checkAudit › names git's reason and advice for a repository that git refuses", async () => {
  const cwd = temporaryDirectory();
  git(cwd, "init", "--quiet");
  const own = { ...GIT_IDENTITY, PATH: process.env.PATH };
  const audit = { cwd, report: undefined };
  expect(await checkAudit({ ...audit, env: own })).toBe(join(cwd, "AUDIT.md"));
  // Git then treats the repository as another user's, as in a container.
  const env = { ...own, GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" };
  await expect(checkAudit({ ...audit, env })).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("dubious ownership"),
    hint: expect.stringContaining("git config --global --add safe.directory"),
  });
  await expect(checkAudit({ ...audit, cwd: temporaryDirectory(), env })).rejects.toThrow(
    "is not in a git work tree",
  );
});
