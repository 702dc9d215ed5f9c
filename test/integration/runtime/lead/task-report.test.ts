import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { rememberTasks, reportedTasks, taskReport } from "../../../../src/runtime/lead/task-report.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { safeStyler } from "../../../../src/terminal/output.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

test("the result of a run › lists the reported and the verified state of each task, even if the team was deleted", async () => {
  const ref = await testTeam(["ada"]);
  const ctx = contextOf(ref, LEAD_NAME);
  const out = { styleText: safeStyler(false), columns: 80 };
  await addTask(ref, LEAD_NAME, { subject: "Report", owner: "ada" });
  await updateTask(ref, "ada", "1", { status: "completed" });
  rememberTasks(ctx);
  expect([reportedTasks(ctx), taskReport(ctx, out)]).toEqual([[], []]);
  await addTask(ref, LEAD_NAME, { subject: "Fix it", verify: "npm test" }, undefined, { confirms: true });
  rememberTasks(ctx);
  rmSync(ref.paths.dir, { recursive: true });
  rmSync(ref.paths.tasks, { recursive: true });
  rememberTasks(ctx);
  expect(reportedTasks(ctx)).toMatchObject([
    { id: "1", owner: "ada", said: true, shown: "none" },
    { id: "2", said: false, shown: "not run" },
  ]);
  expect(taskReport(ctx, out).join("\n")).toMatch(
    /#1 +completed +done +ada +Report\n#2 +pending +not run +Fix it$/,
  );
});
