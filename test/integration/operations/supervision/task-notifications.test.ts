import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { supervise } from "../../../../src/operations/supervision/supervise.ts";
import { notifyMissedTaskChanges } from "../../../../src/operations/supervision/task-notifications.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { Task } from "../../../../src/schema/task.ts";
import { updateTeam } from "../../../../src/team/config/config.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { claimTask } from "../../../../src/team/tasks/claim-task.ts";
import { taskIds } from "../../../../src/team/tasks/task-ids.ts";
import { getTask } from "../../../../src/team/tasks/tasks.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { atEveryStep } from "../../../support/at-every-step.ts";
import { countBytes } from "../../../support/count-bytes.ts";
import { eventually } from "../../../support/eventually.ts";
import { lookingContext } from "../../../support/looking.ts";
import { script } from "../../../support/run-ts.ts";
import { testTeam } from "../../../support/team.ts";

const flow = script("flow");

/** #1 is a's and begun; #2 is b's and waits for it. */
async function twoTasks(): Promise<TeamRef> {
  const ref = await testTeam(["a", "b"]);
  await addTask(ref, LEAD_NAME, { subject: "first" });
  await addTask(ref, "b", { subject: "second", owner: "b", blockedBy: ["1"] });
  await claimTask(ref, "a", "1");
  return ref;
}

/** What somebody was told, as `type #task`, with who said it. */
async function told(ref: TeamRef, agent: string): Promise<string[]> {
  return (await unreadMessages(ref, agent)).map(({ message, protocol }) =>
    protocol !== undefined && "taskId" in protocol
      ? `${protocol.type} #${protocol.taskId} of ${message.from}`
      : message.text,
  );
}

/** What a peer does that knows nothing of our notes: it rewrites the file from what it read, and keeps the metadata. */
function rewrite(ref: TeamRef, id: string, change: Partial<Task>): void {
  writeFileSync(ref.paths.task(id), JSON.stringify({ ...getTask(ref, id), ...change }));
}

/** Two that watch the same team from now on, as far as their memory goes in processes of their own. @returns lets both look */
async function watchers(ref: TeamRef): Promise<() => Promise<unknown>> {
  const both = [lookingContext(ref), lookingContext(ref)];
  const look = (): Promise<unknown> => Promise.all(both.map(notifyMissedTaskChanges));
  await look();
  return look;
}

const COMPLETED = "task_completed #1 of a";
const UNBLOCKED = "task_assignment #2 of a";

describe("a task that a foreign peer completes", () => {
  it("is told once to the lead and to the owner behind it, however many watch (S57)", async () => {
    const ref = await twoTasks();
    const look = await watchers(ref);
    rewrite(ref, "1", { status: "completed" });
    for (const _look of ["first", "second"]) {
      await look();
      expect(await told(ref, LEAD_NAME)).toEqual([COMPLETED]);
      expect(await told(ref, "b")).toEqual([UNBLOCKED]);
    }
  });

  it("is told at once while somebody watches", async () => {
    const ref = await twoTasks();
    const watching = new AbortController();
    let looks = 0;
    const watch = supervise(lookingContext(ref), {
      signal: watching.signal,
      onEnd: () => undefined,
      onChange: () => {
        looks += 1;
      },
      onProblem: (problem) => expect(problem).toBe(""),
    });
    onTestFinished(async () => {
      watching.abort();
      await watch;
    });
    await eventually("the first look", () => looks > 0);
    rewrite(ref, "1", { status: "completed" });
    // Sooner than the slow check, with room for a busy machine.
    await eventually("the news", async () => (await told(ref, "b")).length === 1, 4_000);
  });

  it("is noticed where the peer writes in place, which changes nothing of the directory", async () => {
    const ref = await twoTasks();
    for (const path of [ref.paths.task("1"), ref.paths.task("2"), ref.paths.tasks]) utimesSync(path, 1, 1);
    const look = await watchers(ref);
    rewrite(ref, "1", { status: "completed" });
    expect(statSync(ref.paths.tasks).mtimeMs).toBe(1_000);
    await look();
    expect(await told(ref, "b")).toEqual([UNBLOCKED]);
  });

  it("costs nothing where nothing has changed", async () => {
    const ref = await twoTasks();
    for (const path of [ref.paths.task("1"), ref.paths.task("2"), ref.paths.tasks]) utimesSync(path, 1, 1);
    const look = await watchers(ref);
    const { read } = await countBytes(look);
    expect(read).toBe(2 * readFileSync(ref.paths.config).length);
  });

  it("is told again when it was opened and completed once more, by whomever", async () => {
    const ref = await twoTasks();
    const look = await watchers(ref);
    rewrite(ref, "1", { status: "completed" });
    await look();
    await updateTask(ref, LEAD_NAME, "1", { status: "in_progress" });
    await look();
    rewrite(ref, "1", { status: "completed" });
    await look();
    rewrite(ref, "1", { status: "in_progress" });
    await look();
    await updateTask(ref, "a", "1", { status: "completed" });
    await look();
    expect(await told(ref, LEAD_NAME)).toEqual([COMPLETED, COMPLETED, COMPLETED]);
    expect(await told(ref, "b")).toEqual([UNBLOCKED, UNBLOCKED, UNBLOCKED]);
  });

  it("is not told where we completed it ourselves and told it", async () => {
    const ref = await twoTasks();
    const look = await watchers(ref);
    await updateTask(ref, "a", "1", { status: "completed" });
    await look();
    expect(await told(ref, LEAD_NAME)).toEqual([COMPLETED]);
    expect(await told(ref, "b")).toEqual([UNBLOCKED]);
  });

  it("is old news to whoever begins to watch", async () => {
    const ref = await twoTasks();
    rewrite(ref, "1", { status: "completed" });
    await (await watchers(ref))();
    expect([await told(ref, LEAD_NAME), await told(ref, "b")]).toEqual([[], []]);
  });

  it("is left alone in a team of others, which has its own lead (S76)", async () => {
    const ref = await twoTasks();
    await updateTeam(ref, ({ schemaVersion: _ours, ...foreign }) => foreign as never);
    const look = await watchers(ref);
    rewrite(ref, "1", { status: "completed" });
    const before = bytesOf(ref);
    await look();
    expect(bytesOf(ref)).toEqual(before);
  });
});

function bytesOf(ref: TeamRef): string[] {
  return [ref.paths.tasks, ref.paths.inboxes].flatMap((directory) =>
    readdirSync(directory).map((name) => `${name}: ${readFileSync(`${directory}/${name}`, "utf8")}`),
  );
}

it("two blockers that are completed at once wake the owner behind both once", async () => {
  const ref = await testTeam(["a", "b", "c"]);
  for (const subject of ["1", "2"]) await addTask(ref, LEAD_NAME, { subject });
  await addTask(ref, "c", { subject: "3", owner: "c", blockedBy: ["1", "2"] });
  const look = await watchers(ref);
  for (const id of ["1", "2"]) rewrite(ref, id, { status: "completed" });
  await look();
  expect(await told(ref, "c")).toHaveLength(1);
});

describe("a process that is killed while it changes a task", () => {
  it.each([
    ["complete", () => [COMPLETED], () => [UNBLOCKED]],
    ["assign", () => [], () => ["task_assignment #1 of a"]],
    ["add", () => [], () => ["task_assignment #3 of a"]],
  ])(
    "leaves it undone, or told once by the next look: %s",
    async (what, lead, owner) => {
      let wasDone = 0;
      await atEveryStep(async (n) => {
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
          expect(await told(ref, LEAD_NAME), `killed at ${n}`).toEqual(done ? lead() : []);
          expect(await told(ref, "b"), `killed at ${n}`).toEqual(done ? owner() : []);
        };
        return { child: flow(ref.home.root, ref.team, what, String(n)), check };
      });
      // The window in which it is done and not told, at least.
      expect(wasDone).toBeGreaterThan(5);
    },
    120_000,
  );
});
