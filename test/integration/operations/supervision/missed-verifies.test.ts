import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MissedVerifies } from "../../../../src/operations/supervision/missed-verifies.ts";
import { supervise } from "../../../../src/operations/supervision/supervise.ts";
import { taskVerifier } from "../../../../src/runtime/task-verifier.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { Task } from "../../../../src/schema/task.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { patchMember } from "../../../../src/team/members/members.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { claimTask } from "../../../../src/team/tasks/claim-task.ts";
import { withProof } from "../../../../src/team/tasks/task-proof.ts";
import { getTask } from "../../../../src/team/tasks/tasks.ts";
import { addTask } from "../../../../src/team/tasks/update-task.ts";
import { confirmVerify } from "../../../../src/team/tasks/verify-record.ts";
import { reconcileContext } from "../../../support/team/reconcile-context.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";

/** Creates a team whose foreign member `a` works on a task with this verify command, supervised by a lead. */
async function supervised(verify: string): Promise<{ readonly ref: TeamRef; readonly work: string }> {
  const ref = await testTeam(["a", "b"]);
  const work = join(ref.home.root, "work");
  mkdirSync(work);
  await patchMember(ref, "a", { cwd: work });
  await addTask(ref, LEAD_NAME, { subject: "first", verify }, undefined, { confirms: true });
  await addTask(ref, "b", { subject: "second", owner: "b", blockedBy: ["1"] });
  await claimTask(ref, "a", "1");
  const watching = new AbortController();
  const problems: string[] = [];
  const env = { PATH: process.env.PATH ?? "", HOME: ref.home.root };
  const watched = supervise(reconcileContext(ref), {
    signal: watching.signal,
    onEnd: () => undefined,
    onChange: () => undefined,
    onProblem: (text) => problems.push(text),
    verify: taskVerifier({ ref, env, actor: "system", note: (text) => problems.push(text) }),
  });
  onTestFinished(async () => {
    watching.abort();
    await watched;
    expect(problems).toEqual([]);
  });
  return { ref, work };
}

/** Rewrites a task as a program that does not know the records of teams: it keeps the metadata. */
function rewrite(ref: TeamRef, id: string, change: Partial<Task>): void {
  writeFileSync(ref.paths.task(id), JSON.stringify({ ...getTask(ref, id), ...change }));
}

async function texts(ref: TeamRef, name: string): Promise<string> {
  return (await unreadMessages(ref, name)).map(({ message }) => message.text).join("\n");
}

test("a task that another program completed › is announced once its verify command has passed", async () => {
  const { ref, work } = await supervised("touch started; until test -e go; do sleep 0.05; done");
  rewrite(ref, "1", { status: "completed" });
  await eventually("the command to start", () => existsSync(join(work, "started")));
  expect(withProof(ref, getTask(ref, "1"))).toMatchObject({ said: true, shown: "running" });
  expect(await texts(ref, LEAD_NAME)).toBe("");
  writeFileSync(join(work, "go"), "");
  await eventually(
    "the lead to be notified",
    async () => (await texts(ref, LEAD_NAME)).includes("task_completed") || undefined,
  );
  await eventually(
    "b to be notified",
    async () => (await texts(ref, "b")).includes("task_assignment") || undefined,
  );
  expect(withProof(ref, getTask(ref, "1"))).toMatchObject({ status: "completed", shown: "passed" });
});

test("a task that another program completed › is in progress again with its owner if its verify command fails", async () => {
  const { ref } = await supervised("echo 2 tests failed; exit 3");
  rewrite(ref, "1", { status: "completed" });
  await eventually(
    "a to be notified",
    async () => (await texts(ref, "a")).includes("2 tests failed") || undefined,
  );
  expect(withProof(ref, getTask(ref, "1"))).toMatchObject({
    ...{ status: "in_progress", owner: "a", said: true, shown: "failed" },
  });
  expect(await texts(ref, LEAD_NAME)).not.toContain("task_completed");
});

test("a task that another program completed › is not proved by a command that was replaced while it ran", async () => {
  const { ref, work } = await supervised("touch started; until test -e go; do sleep 0.05; done");
  rewrite(ref, "1", { status: "completed" });
  await eventually("the command to start", () => existsSync(join(work, "started")));
  await confirmVerify(ref, "1", "echo 2 tests failed; exit 3", 1);
  writeFileSync(join(work, "go"), "");
  await eventually(
    "a to be notified",
    async () => (await texts(ref, "a")).includes("2 tests failed") || undefined,
  );
  expect(withProof(ref, getTask(ref, "1"))).toMatchObject({ status: "in_progress", shown: "failed" });
});

test("a verification that cannot run its command › is repeated after a pause, and reported once", async () => {
  const ref = await testTeam();
  await addTask(ref, LEAD_NAME, { subject: "first", verify: "true" }, undefined, { confirms: true });
  rewrite(ref, "1", { status: "completed" });
  let attempts = 0;
  const problems: string[] = [];
  const stop = new AbortController();
  const missed = new MissedVerifies(reconcileContext(ref), {
    verify: async () => {
      attempts += 1;
      throw new Error("The settings are invalid.");
    },
    signal: stop.signal,
    onProblem: (text) => problems.push(text),
  });
  missed.check();
  for (let wake = 1; wake <= 20; wake += 1) {
    // No timer can fire in between, so the pause cannot end.
    await Promise.resolve();
    missed.check();
  }
  expect(attempts).toBe(1);
  await eventually("the next attempt", () => attempts > 1);
  stop.abort();
  await missed.end();
  expect(problems).toEqual(["Task #1 could not be verified: The settings are invalid."]);
});
