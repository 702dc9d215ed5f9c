import { existsSync, writeFileSync } from "node:fs";
import { expect, it, test } from "vitest";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { repairLinks } from "../../../../src/team/repair/repair-dependencies.ts";
import { linkTasks } from "../../../../src/team/tasks/dependencies.ts";
import { createTask, getTask, readTasks } from "../../../../src/team/tasks/tasks.ts";
import { updateTask } from "../../../../src/team/tasks/update-task.ts";
import { killAtEveryStep } from "../../../support/kill/kill-at-every-step.ts";
import { script } from "../../../support/processes/script-process.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const flow = script("team/change-task");

/** Returns the dependencies as the blocked tasks state them. */
function links(ref: TeamRef): string[] {
  return readTasks(ref).flatMap(({ id, blockedBy }) =>
    blockedBy.map((blocker) => `${id} waits for ${blocker}`),
  );
}

/** Creates four tasks, either unlinked or with #2 linked to all others. */
async function fourTasks(isLinked: boolean): Promise<TeamRef> {
  const ref = await testTeam(["a"]);
  for (const subject of ["1", "2", "3", "4"]) await createTask(ref, { subject });
  if (isLinked) await linkTasks(ref, { id: "2", addBlockedBy: ["1"], addBlocks: ["3", "4"] });
  return ref;
}

const LINKED = ["2 waits for 1", "3 waits for 2", "4 waits for 2"];

it.each([
  ["creating a blocked task", "add-blocked", false, [], ["5 waits for 1", "5 waits for 2"]],
  ["linking tasks", "link", false, [], LINKED],
  ["deleting a task", "delete", true, LINKED, []],
])(
  "task links › killing a process while %s leaves all links or none after the next operation",
  async (_title, what, isLinked, before, after) => {
    let completed = 0;
    await killAtEveryStep(async (n) => {
      const ref = await fourTasks(isLinked);
      const check = async (): Promise<void> => {
        await createTask(ref, { subject: "next" });
        const found = links(ref);
        expect([before, after], `killed at ${n}`).toContainEqual(found);
        expect(repairLinks(readTasks(ref)), `killed at ${n}`).toEqual([]);
        expect(existsSync(ref.paths.linkChange)).toBe(false);
        completed += found.length === after.length ? 1 : 0;
      };
      return { child: flow(ref.home.root, ref.team, what, String(n)), check };
    });
    // The next operation completed the change of the killed process, at least once for each file.
    expect(completed).toBeGreaterThan(5);
  },
);

test("task links › a refused change is not applied by a later operation", async () => {
  const ref = await fourTasks(true);
  await updateTask(ref, "team-lead", "2", { owner: "a" });
  await expect(updateTask(ref, "b", "2", { status: "deleted" })).rejects.toMatchObject({
    code: "TASK_CLAIMED",
  });
  await createTask(ref, { subject: "next" });
  expect(links(ref)).toEqual(LINKED);
  expect(existsSync(ref.paths.linkChange)).toBe(false);
});

test("task links › another program's task gets no links recorded for a task that was never written", async () => {
  const ref = await fourTasks(false);
  writeFileSync(ref.paths.linkChange, JSON.stringify({ created: "5" }));
  writeFileSync(ref.paths.task("5"), JSON.stringify({ ...getTask(ref, "4"), id: "5", blockedBy: ["3"] }));
  await createTask(ref, { subject: "next" });
  expect(links(ref)).toEqual(["5 waits for 3"]);
  expect(repairLinks(readTasks(ref))).toEqual([]);
});

test("task links › an unreadable record of a link change is ignored", async () => {
  const ref = await fourTasks(false);
  writeFileSync(ref.paths.linkChange, "{");
  await linkTasks(ref, { id: "2", addBlockedBy: ["1"] });
  expect(links(ref)).toEqual(["2 waits for 1"]);
  expect(existsSync(ref.paths.linkChange)).toBe(false);
});
