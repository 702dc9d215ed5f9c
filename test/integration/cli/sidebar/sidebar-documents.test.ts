import { symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { openDocument } from "../../../../src/cli/sidebar/sidebar-documents.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
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

test("openDocument › lists all teams when the files of one cannot be read", async () => {
  const ref = await testTeam(["dev"]);
  const leadSessionId = "5f0e2a6e-0000-4000-8000-000000000001";
  const broken = await createTeamFiles(ref.home, { name: "other", leadSessionId, leadCwd: "/", now: 1_000 });
  symlinkSync(broken.paths.requests, broken.paths.requests);
  const document = await openDocument(contextOf(ref), { kind: "teams" }, { plain: true });
  const facts = { waiting: 0, displayName: expect.any(String) };
  expect(await document.read(80)).toEqual({
    kind: "teams",
    teams: [
      { ...facts, team: "crew", members: 2, isShown: true },
      { ...facts, team: "other", members: 1, isShown: false, problem: expect.stringContaining("ELOOP") },
    ],
  });
});
