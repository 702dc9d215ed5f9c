import { expect, test } from "vitest";
import { openDocument } from "../../../../src/cli/sidebar/sidebar-documents.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { createTask, deleteTask } from "../../../../src/team/tasks/tasks.ts";
import { updateTask } from "../../../../src/team/tasks/update-task.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

test("openDocument › shows a task as it is now, and keeps it readable once it is deleted", async () => {
  const ref = await testTeam(["dev"]);
  const { id } = await createTask(ref, { subject: "Mend it", description: "In **src**." });
  const document = await openDocument(contextOf(ref), { kind: "task", id }, { plain: true });
  expect(document.renews).toBe("with-data");
  const content = { subject: "Mend it", description: "In **src**." };
  const shown = (facts: readonly string[]): object => ({ kind: "task", task: { ...content, facts } });
  expect(await document.read(80)).toEqual(shown(["state:      pending", "owner:      none"]));
  await updateTask(ref, LEAD_NAME, id, { owner: "dev", status: "in_progress" });
  expect(await document.read(80)).toEqual(shown(["state:      in progress", "owner:      dev"]));
  await deleteTask(ref, id);
  expect(await document.read(80)).toEqual(shown(["state:      deleted"]));
  const other = await openDocument(contextOf(ref), { kind: "task", id: "99" }, { plain: true });
  expect(() => other.read(80)).toThrow(/99/);
});
