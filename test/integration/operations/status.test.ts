import { spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Backend } from "../../../src/backend/backend.ts";
import { prepareStarts } from "../../../src/launch/prepare.ts";
import { runState } from "../../../src/operations/run/run-state.ts";
import { teamStatus } from "../../../src/operations/status.ts";
import { identityOf, ownIdentity } from "../../../src/os/process/identity.ts";
import { withMetadata } from "../../../src/schema/member-metadata.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { StartClaim } from "../../../src/schema/start-claim.ts";
import type { Task } from "../../../src/schema/task.ts";
import { updateTeam } from "../../../src/team/config/config.ts";
import { markAsRead, unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { claimStarts } from "../../../src/team/members/start-claims.ts";
import { writePlace } from "../../../src/team/records/read-records.ts";
import { writeRecord, writeStatus } from "../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { withExpiredUnassigned } from "../../../src/team/tasks/lease.ts";
import { changeTask, createTask, getTask } from "../../../src/team/tasks/tasks.ts";
import { reconcileContext } from "../../support/team/reconcile-context.ts";
import { retireMember } from "../../support/team/retire-member.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";
import { testTeam } from "../../support/team/test-team.ts";

test("teamStatus › names a dependency cycle once no other work is left", async () => {
  const ref = await testTeam(["a"]);
  for (const subject of ["1", "2", "3"]) await createTask(ref, { subject });
  for (const [id, blocker] of [
    ["1", "2"],
    ["2", "1"],
  ] as const) {
    await changeTask(ref, id, (task) => ({ ...task, blockedBy: [blocker] }));
  }
  const found = async (): Promise<unknown> => (await teamStatus(reconcileContext(ref))).deadlock;
  expect(await found()).toBeNull();
  await changeTask(ref, "3", (task) => ({ ...task, status: "completed" }));
  expect(await found()).toEqual({ kind: "cycle", tasks: ["1", "2"] });
});

test("teamStatus › names a blocking owner that is dead or not a member", async () => {
  const ref = await testTeam(["a", "b"]);
  writeStatus(ref, "a", statusOf({ process: deadProcess() }));
  await createTask(ref, { subject: "1", owner: "a" });
  await createTask(ref, { subject: "2", owner: "b", blockedBy: ["1"] });
  const found = async (): Promise<unknown> => (await teamStatus(reconcileContext(ref))).deadlock;
  expect(await found()).toEqual({ kind: "dead-owner", owner: "a", tasks: ["1"] });
  await changeTask(ref, "1", (task) => ({ ...task, owner: "stranger" }));
  expect(await found()).toEqual({
    kind: "dead-owner",
    owner: "stranger",
    tasks: ["1"],
    isStranger: true,
  });
  await changeTask(ref, "1", (task) => ({ ...task, owner: "a" }));
  await retireMember(ref, "a", "kill");
  expect(await found()).toEqual({ kind: "dead-owner", owner: "a", tasks: ["1"] });
  for (const owner of ["b", LEAD_NAME]) {
    await changeTask(ref, "1", (task) => ({ ...task, owner }));
    expect(await found()).toBeNull();
  }
});

test("teamStatus › shows the active form of a working member's newest task in progress, then its step", async () => {
  const ref = await testTeam(["dev", "peer"]);
  for (const owner of ["dev", "dev", "peer"]) await createTask(ref, { subject: "x", owner });
  for (const [id, activeForm] of Object.entries({ 1: "Reading", 2: "Counting files", 3: "Checking" }))
    await changeTask(ref, id, (task) => ({ ...task, activeForm, status: "in_progress" }));
  const activities = async (): Promise<unknown> =>
    (await teamStatus(reconcileContext(ref))).members.slice(1).map(({ activity }) => activity);
  writeStatus(ref, "dev", statusOf({ state: "running", activity: "Bash(wc -l)" }));
  expect(await activities()).toEqual(["Counting files: Bash(wc -l)", "Checking"]);
  writeStatus(ref, "dev", statusOf({ state: "needs-input", activity: "asks: Bash(rm x)" }));
  expect(await activities()).toEqual(["asks: Bash(rm x)", "Checking"]);
  writeStatus(ref, "dev", statusOf({ state: "idle" }));
  expect(await activities()).toEqual(["", "Checking"]);
});

test("teamStatus › shows a dead owner's task as free before it is unassigned (S56)", async () => {
  const ref = await testTeam(["a"]);
  const begin = (lease?: unknown) => async (task: Task) => {
    await changeTask(ref, task.id, (one) => ({
      ...one,
      owner: "a",
      status: "in_progress",
      metadata: { keep: 1, ...(lease === undefined ? {} : { _lease: lease }) },
    }));
  };
  await begin(deadProcess())(await createTask(ref, { subject: "dead" }));
  await begin(statusOf().process)(await createTask(ref, { subject: "living" }));
  await begin({ ...deadProcess(), pidSpace: "elsewhere#1" })(await createTask(ref, { subject: "unknown" }));
  await begin()(await createTask(ref, { subject: "a person's" }));
  const seen = withExpiredUnassigned(["1", "2", "3", "4"].map((id) => getTask(ref, id)));
  expect(seen.map(({ owner, status }) => [owner, status])).toEqual([
    [undefined, "pending"],
    ["a", "in_progress"],
    ["a", "in_progress"],
    ["a", "in_progress"],
  ]);
  expect(seen[0]?.metadata).toEqual({ keep: 1 });
  const { tasks, members } = await teamStatus(reconcileContext(ref));
  expect(tasks).toMatchObject({ pending: 1, inProgress: 3 });
  expect(members[1]).toMatchObject({ name: "a", taskIds: ["2", "3", "4"] });
});

test("teamStatus › counts each member's messages by state (S28)", async () => {
  const ref = await testTeam(["a"]);
  await sendMessage(ref, { from: LEAD_NAME, to: "a", text: "one" });
  await sendMessage(ref, { from: LEAD_NAME, to: "a", text: "two" });
  writeStatus(ref, "a", { ...statusOf(), inTurn: 1 });
  const { members } = await teamStatus(reconcileContext(ref));
  expect(members[1]).toMatchObject({ unread: 2, mail: { queued: 2, delivered: 0, inTurn: 1 } });
});

const PLACE = { instance: "new", backend: "tmux", panePid: process.pid, spawnedAt: 1 };

test("teamStatus › counts a message as unread if its turn begins during the query", async () => {
  const ref = await testTeam(["a"]);
  await sendMessage(ref, { from: LEAD_NAME, to: "a", text: "one" });
  writePlace(ref, "a", { ...PLACE, instance: "i" });
  const idle = statusOf({ instance: "i", process: ownIdentity(), state: "idle" });
  writeStatus(ref, "a", idle);
  const ctx = reconcileContext(ref);
  const present = async (): Promise<ReadonlySet<string>> => {
    writeStatus(ref, "a", { ...idle, state: "running" });
    const keys = (await unreadMessages(ref, "a")).map(({ key }) => key);
    await markAsRead(ref, "a", keys);
    return new Set(["i"]);
  };
  const backend = { ...ctx.backends.of("tmux"), present } as unknown as Backend;
  const busy = { ...ctx, backends: { ...ctx.backends, of: () => backend } };
  const { members } = await teamStatus(busy);
  expect(members[1]).toMatchObject({ state: "idle", unread: 1 });
});

describe("teamStatus › lists the tasks as they are after its query", () => {
  /** Makes a change during the query: after the records of the members were read. */
  async function statusDuring(ref: TeamRef, change: () => Promise<unknown>) {
    writePlace(ref, "a", { ...PLACE, instance: "i" });
    const ctx = reconcileContext(ref);
    const present = async (): Promise<ReadonlySet<string>> => {
      await change();
      return new Set(["i"]);
    };
    const backend = { ...ctx.backends.of("tmux"), present } as unknown as Backend;
    return teamStatus({ ...ctx, backends: { ...ctx.backends, of: () => backend } });
  }

  test("when a member creates one meanwhile", async () => {
    const ref = await testTeam(["a"]);
    writeStatus(ref, "a", statusOf({ instance: "i", state: "idle" }));
    const { tasks } = await statusDuring(ref, () => createTask(ref, { subject: "late" }));
    expect(tasks).toMatchObject({ pending: 1, list: [{ subject: "late" }] });
  });

  test("so an owner that completes its task and ends meanwhile blocks no other member", async () => {
    const ref = await testTeam(["a", "b"]);
    const agent = spawn("sleep", ["1000"]);
    onTestFinished(() => void agent.kill("SIGKILL"));
    const process = identityOf(agent.pid ?? 0) ?? deadProcess();
    writeStatus(ref, "a", statusOf({ instance: "i", process, state: "running" }));
    writeStatus(ref, "b", statusOf());
    await createTask(ref, { subject: "1", owner: "a" });
    await createTask(ref, { subject: "2", owner: "b", blockedBy: ["1"] });
    const { deadlock, members } = await statusDuring(ref, async () => {
      await changeTask(ref, "1", (task) => ({ ...task, status: "completed" }));
      agent.kill("SIGKILL");
      await once(agent, "exit");
    });
    expect(members[1]).toMatchObject({ name: "a", alive: false });
    expect(deadlock).toBeNull();
  });
});

/** Returns the state of the member `a`, and the number of open requests. */
async function stateIn(ref: TeamRef, ctx = reconcileContext(ref)): Promise<unknown[]> {
  const { members, approvals } = await teamStatus(ctx);
  return [members.find(({ name }) => name === "a")?.state, approvals.length];
}

test("teamStatus › shows a member as exited if its process ends as agreed during the query", async () => {
  const ref = await testTeam(["a"]);
  const agent = spawn("sleep", ["1000"]);
  onTestFinished(() => void agent.kill("SIGKILL"));
  const process = identityOf(agent.pid ?? 0) ?? deadProcess();
  writePlace(ref, "a", { ...PLACE, instance: "i" });
  writeStatus(ref, "a", statusOf({ instance: "i", process, state: "idle" }));
  const ctx = reconcileContext(ref);
  const present = async (): Promise<ReadonlySet<string>> => {
    writeStatus(ref, "a", statusOf({ instance: "i", process, state: "exited" }));
    agent.kill("SIGKILL");
    await once(agent, "exit");
    return new Set();
  };
  const backend = { ...ctx.backends.of("tmux"), present } as unknown as Backend;
  const busy = { ...ctx, backends: { ...ctx.backends, of: () => backend } };
  expect(await stateIn(ref, busy)).toEqual(["exited", 0]);
});

describe("teamStatus › shows a member as starting", () => {
  const dead = deadProcess();
  const own = () => ({ paneProcStart: ownIdentity().procStart });

  test("when it has a place and no status, even for a command without backends", async () => {
    const ref = await testTeam(["a"]);
    writePlace(ref, "a", { ...PLACE, ...own() });
    const ctx = reconcileContext(ref);
    const files = { ...ctx, backends: { ...ctx.backends, of: () => undefined } };
    expect(await stateIn(ref, files)).toEqual(["starting", 0]);
    // A backend that does not list the place knows that the member is gone.
    expect(await stateIn(ref)).toEqual(["crashed", 1]);
  });

  test("although its start ends, with the process that began it, while a status is collected", async () => {
    const ref = await testTeam(["other", "a"]);
    const spawner = spawn("sleep", ["1000"]);
    onTestFinished(() => void spawner.kill("SIGKILL"));
    writeStatus(ref, "other", statusOf({ instance: "o" }));
    writePlace(ref, "other", { ...PLACE, instance: "o" });
    const claim = (startClaim: StartClaim | undefined) =>
      updateTeam(ref, (config) => ({
        ...config,
        members: config.members.map((one) => (one.name === "a" ? withMetadata(one, { startClaim }) : one)),
      }));
    const by = identityOf(spawner.pid ?? 0) ?? deadProcess();
    await claim({ instance: "new", first: true, by, at: Date.now() });
    const ctx = reconcileContext(ref);
    expect(await stateIn(ref, ctx)).toEqual(["starting", 0]);
    // Runs after the records of the members are read, and before their states are judged.
    const present = async (): Promise<ReadonlySet<string>> => {
      writePlace(ref, "a", { ...PLACE, ...own() });
      await claim(undefined);
      spawner.kill("SIGKILL");
      await once(spawner, "exit");
      return new Set(["o"]);
    };
    const backend = { ...ctx.backends.of("tmux"), present } as unknown as Backend;
    const busy = { ...ctx, backends: { ...ctx.backends, of: () => backend } };
    expect(await stateIn(ref, busy)).toEqual(["starting", 0]);
  });

  test("while another process starts it again", async () => {
    const ref = await testTeam(["a"]);
    writePlace(ref, "a", { ...PLACE, instance: "old", panePid: dead.pid, paneProcStart: dead.procStart });
    writeStatus(ref, "a", statusOf({ process: dead, instance: "old", state: "running" }));
    expect(await stateIn(ref)).toEqual(["crashed", 1]);
    const claims = await claimStarts(ref, ({ name }) => (name === "a" ? { session: undefined } : undefined));
    expect(await stateIn(ref)).toEqual(["starting", 0]);
    await prepareStarts([ref.paths.agent("a")]);
    expect(await stateIn(ref)).toEqual(["starting", 0]);
    writeStatus(ref, "a", statusOf({ instance: claims.get("a")?.instance ?? "", state: "idle" }));
    expect(await stateIn(ref)).toEqual(["idle", 0]);
  });

  test("from its restart in its pane until the new process reports, and as crashed after the next crash", async () => {
    const ref = await testTeam(["a"]);
    const paths = ref.paths.agent("a");
    const ended = (at: number) => ({ instance: "new", code: 130, signal: "SIGINT", at, lastLines: [] });
    writePlace(ref, "a", { ...PLACE, ...own() });
    writeStatus(ref, "a", statusOf({ process: dead, instance: "new", state: "running", startedAt: 1_000 }));
    writeRecord(ref, paths.exit, ended(2_000));
    expect(await stateIn(ref)).toEqual(["exited", 0]);
    renameSync(paths.exit, paths.crash);
    expect(await stateIn(ref)).toEqual(["starting", 0]);
    writeStatus(ref, "a", statusOf({ process: dead, instance: "new", state: "running", startedAt: 3_000 }));
    expect(await stateIn(ref)).toEqual(["crashed", 1]);
  });
});

test("a run › waits for a member whose turn ends are unseen only while it has a task in progress", async () => {
  const ref = await testTeam(["a"]);
  writeStatus(ref, "a", statusOf({ state: "unknown" }));
  expect(runState(reconcileContext(ref)).busy).toBe(0);
  await createTask(ref, { subject: "1", owner: "a" });
  await changeTask(ref, "1", (task) => ({ ...task, status: "in_progress" }));
  expect(runState(reconcileContext(ref)).busy).toBe(1);
  await changeTask(ref, "1", (task) => ({ ...task, status: "completed" }));
  expect(runState(reconcileContext(ref)).busy).toBe(0);
});
