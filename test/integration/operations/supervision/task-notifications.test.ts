import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { supervise } from "../../../../src/operations/supervision/supervise.ts";
import { notifyMissedTaskChanges } from "../../../../src/operations/supervision/task-notifications.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { Task } from "../../../../src/schema/task.ts";
import { updateTeam } from "../../../../src/team/config/config.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { claimTask } from "../../../../src/team/tasks/claim-task.ts";
import { taskIds } from "../../../../src/team/tasks/task-ids.ts";
import { getTask } from "../../../../src/team/tasks/tasks.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { countBytes } from "../../../support/files/count-file-bytes.ts";
import { killAtEveryStep } from "../../../support/kill/kill-at-every-step.ts";
import { script } from "../../../support/processes/script-process.ts";
import { reconcileContext } from "../../../support/team/reconcile-context.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { noSlowCheck } from "../../../support/timing/no-slow-check.ts";

const flow = script("team/change-task");

/** Creates #1, owned by a and in progress, and #2, owned by b and blocked by #1. */
async function twoTasks(): Promise<TeamRef> {
  const ref = await testTeam(["a", "b"]);
  await addTask(ref, LEAD_NAME, { subject: "first" });
  await addTask(ref, "b", { subject: "second", owner: "b", blockedBy: ["1"] });
  await claimTask(ref, "a", "1");
  return ref;
}

/** Returns an agent's notifications as `type #task of sender`. */
async function notified(ref: TeamRef, agent: string): Promise<string[]> {
  return (await unreadMessages(ref, agent)).map(({ message, protocol }) =>
    protocol !== undefined && "taskId" in protocol
      ? `${protocol.type} #${protocol.taskId} of ${message.from}`
      : message.text,
  );
}

/** Rewrites a task as a program that does not know the records of teams: it keeps the metadata. */
function rewrite(ref: TeamRef, id: string, change: Partial<Task>): void {
  writeFileSync(ref.paths.task(id), JSON.stringify({ ...getTask(ref, id), ...change }));
}

/** Starts two observers of one team with separate memories. @returns a function that lets both check */
async function watchers(ref: TeamRef): Promise<() => Promise<unknown>> {
  const both = [reconcileContext(ref), reconcileContext(ref)];
  const poll = (): Promise<unknown> => Promise.all(both.map(notifyMissedTaskChanges));
  await poll();
  return poll;
}

const COMPLETED = "task_completed #1 of a";
const UNBLOCKED = "task_assignment #2 of a";

describe("a task completed by another program", () => {
  it("is reported once to the lead and to the blocked owner, with any number of observers (S57)", async () => {
    const ref = await twoTasks();
    const poll = await watchers(ref);
    rewrite(ref, "1", { status: "completed" });
    for (const _poll of ["first", "second"]) {
      await poll();
      expect(await notified(ref, LEAD_NAME)).toEqual([COMPLETED]);
      expect(await notified(ref, "b")).toEqual([UNBLOCKED]);
    }
  });

  it("is reported without a slow check while a process observes", async () => {
    noSlowCheck();
    const ref = await twoTasks();
    const watching = new AbortController();
    let polls = 0;
    const watch = supervise(reconcileContext(ref), {
      signal: watching.signal,
      onEnd: () => undefined,
      onChange: () => {
        polls += 1;
      },
      onProblem: (problem) => expect(problem).toBe(""),
    });
    onTestFinished(async () => {
      watching.abort();
      await watch;
    });
    await eventually("the first poll", () => polls > 0);
    rewrite(ref, "1", { status: "completed" });
    await eventually("the notification", async () => (await notified(ref, "b")).length === 1);
  });

  it("is noticed even if the file is written in place, which leaves the directory unchanged", async () => {
    const ref = await twoTasks();
    for (const path of [ref.paths.task("1"), ref.paths.task("2"), ref.paths.tasks]) utimesSync(path, 1, 1);
    const poll = await watchers(ref);
    rewrite(ref, "1", { status: "completed" });
    expect(statSync(ref.paths.tasks).mtimeMs).toBe(1_000);
    await poll();
    expect(await notified(ref, "b")).toEqual([UNBLOCKED]);
  });

  it("is checked without reading any task file if nothing changed", async () => {
    const ref = await twoTasks();
    for (const path of [ref.paths.task("1"), ref.paths.task("2"), ref.paths.tasks]) utimesSync(path, 1, 1);
    const poll = await watchers(ref);
    const { read } = await countBytes(poll);
    expect(read).toBe(2 * readFileSync(ref.paths.config).length);
  });

  it("is reported again after each reopening", async () => {
    const ref = await twoTasks();
    const poll = await watchers(ref);
    rewrite(ref, "1", { status: "completed" });
    await poll();
    await updateTask(ref, LEAD_NAME, "1", { status: "in_progress" });
    await poll();
    rewrite(ref, "1", { status: "completed" });
    await poll();
    rewrite(ref, "1", { status: "in_progress" });
    await poll();
    await updateTask(ref, "a", "1", { status: "completed" });
    await poll();
    expect(await notified(ref, LEAD_NAME)).toEqual([COMPLETED, COMPLETED, COMPLETED]);
    expect(await notified(ref, "b")).toEqual([UNBLOCKED, UNBLOCKED, UNBLOCKED]);
  });

  it("is not reported again if one of our members completed it", async () => {
    const ref = await twoTasks();
    const poll = await watchers(ref);
    await updateTask(ref, "a", "1", { status: "completed" });
    await poll();
    expect(await notified(ref, LEAD_NAME)).toEqual([COMPLETED]);
    expect(await notified(ref, "b")).toEqual([UNBLOCKED]);
  });

  it("is reported once by an observer that starts later, if its owner joined by file", async () => {
    const ref = await twoTasks();
    rewrite(ref, "1", { status: "completed" });
    for (const _later of ["first", "second"]) await watchers(ref);
    expect([await notified(ref, LEAD_NAME), await notified(ref, "b")]).toEqual([[COMPLETED], [UNBLOCKED]]);
  });

  it("is not reported by an observer that starts later, if its owner is one of our agents", async () => {
    const ref = await twoTasks();
    writeStatus(ref, "a", statusOf());
    rewrite(ref, "1", { status: "completed" });
    await (await watchers(ref))();
    expect([await notified(ref, LEAD_NAME), await notified(ref, "b")]).toEqual([[], []]);
  });

  it("is ignored in another program's team, which has its own lead (S76)", async () => {
    const ref = await twoTasks();
    await updateTeam(ref, ({ schemaVersion: _ours, ...foreign }) => foreign as never);
    const poll = await watchers(ref);
    rewrite(ref, "1", { status: "completed" });
    const before = bytesOf(ref);
    await poll();
    expect(bytesOf(ref)).toEqual(before);
  });
});

function bytesOf(ref: TeamRef): string[] {
  return [ref.paths.tasks, ref.paths.inboxes].flatMap((directory) =>
    readdirSync(directory).map((name) => `${name}: ${readFileSync(`${directory}/${name}`, "utf8")}`),
  );
}

it("task notifications › notify an owner once when two blockers complete at the same time", async () => {
  const ref = await testTeam(["a", "b", "c"]);
  for (const subject of ["1", "2"]) await addTask(ref, LEAD_NAME, { subject });
  await addTask(ref, "c", { subject: "3", owner: "c", blockedBy: ["1", "2"] });
  const poll = await watchers(ref);
  for (const id of ["1", "2"]) rewrite(ref, id, { status: "completed" });
  await poll();
  expect(await notified(ref, "c")).toHaveLength(1);
});

describe("killing a process during a task change", () => {
  it.each([
    ["complete", () => [COMPLETED], () => [UNBLOCKED]],
    ["assign", () => [], () => ["task_assignment #1 of a"]],
    ["add", () => [], () => ["task_assignment #3 of a"]],
  ])("leaves the change undone, or reported once by the next check: %s", async (what, lead, owner) => {
    let wasDone = 0;
    await killAtEveryStep(async (n) => {
      const ref = await twoTasks();
      const check = async (): Promise<void> => {
        await watchers(ref);
        const { status, owner: holder } = getTask(ref, "1");
        const isDone = {
          complete: status === "completed",
          assign: holder === "b",
          add: taskIds(ref).length === 3,
        };
        const done = isDone[what as keyof typeof isDone];
        wasDone += done ? 1 : 0;
        expect(await notified(ref, LEAD_NAME), `killed at ${n}`).toEqual(done ? lead() : []);
        expect(await notified(ref, "b"), `killed at ${n}`).toEqual(done ? owner() : []);
      };
      return { child: flow(ref.home.root, ref.team, what, String(n)), check };
    });
    // The change was done at least in the kills between the change and its report.
    expect(wasDone).toBeGreaterThan(5);
  });
});
