import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { clearForRestart } from "../../../../src/operations/ending/clear-previous-start.ts";
import { removeEndedMember } from "../../../../src/operations/ending/remove-member.ts";
import { teamStatus } from "../../../../src/operations/status.ts";
import { reconcile } from "../../../../src/operations/supervision/reconcile.ts";
import { identityOf, ownIdentity } from "../../../../src/os/process/identity.ts";
import type { Ending } from "../../../../src/schema/ending.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { ProcessIdentity } from "../../../../src/schema/process-identity.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { addMembers, findMember, moveToFormer, patchMember } from "../../../../src/team/members/members.ts";
import { writePlace } from "../../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { listRequests, openRequest } from "../../../../src/team/requests/requests.ts";
import { changeTask, createTask, getTask } from "../../../../src/team/tasks/tasks.ts";
import { failingRenames } from "../../../support/files/failing-renames.ts";
import { killAtEveryStep } from "../../../support/kill/kill-at-every-step.ts";
import { script } from "../../../support/processes/script-process.ts";
import { makeDue } from "../../../support/team/due-endings.ts";
import { closedPlaces, reconcileContext } from "../../../support/team/reconcile-context.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testHome } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { stopSteadyClock } from "../../../support/timing/steady-clock.ts";

const reconcileTeam = script("team/reconcile-team");
const INSTANCE = "5f0e2a6e-0000-4000-8000-00000000000d";
const dead = deadProcess();

/** Creates a team whose dev has just ended, with three tasks, the last of them completed. */
async function teamWithEnded(home = testHome(), agreed = false, name = "crew"): Promise<TeamRef> {
  const ref = await createTeamFiles(home, {
    name,
    leadSessionId: "5f0e2a6e-0000-4000-8000-000000000000",
    leadCwd: "/",
    now: 1_000,
  });
  await addMembers(ref, [{ name: "dev", cwd: "/" }]);
  for (const subject of ["one", "two", "three"]) await createTask(ref, { subject, owner: "dev" });
  await changeTask(ref, "1", (task) => ({ ...task, status: "in_progress", metadata: { _lease: dead } }));
  await changeTask(ref, "3", (task) => ({ ...task, status: "completed" }));
  const asked = { kind: "question", from: "dev", summary: "Which?", payload: {}, at: 1 } as const;
  openRequest(ref, { ...asked, id: "question-1@dev" });
  writePlace(ref, "dev", { instance: INSTANCE, backend: "test", spawnedAt: 1 });
  const state = agreed ? { state: "exited" as const, agreedToStop: true } : { state: "running" as const };
  writeStatus(ref, "dev", statusOf({ process: dead, instance: INSTANCE, ...state }));
  return ref;
}

/** Expects every consequence of the ending exactly once. */
async function expectSettled(ref: TeamRef, agreed: boolean): Promise<void> {
  const news = (await unreadMessages(ref, LEAD_NAME)).flatMap(({ protocol }) =>
    protocol?.type === "teammate_terminated" ? [protocol.message] : [],
  );
  expect(news).toEqual([`dev ${agreed ? "has shut down" : "crashed"}. Unassigned tasks: #1 one, #2 two.`]);
  for (const id of ["1", "2"]) {
    expect(getTask(ref, id)).not.toHaveProperty("owner");
    expect(getTask(ref, id)).toMatchObject({ status: "pending" });
  }
  expect(getTask(ref, "3")).toMatchObject({ owner: "dev", status: "completed" });
  const { members, former = [], metadata } = readTeam(ref);
  expect(metadata).toBeUndefined();
  expect(members.map(({ name }) => name)).toEqual(agreed ? [LEAD_NAME] : [LEAD_NAME, "dev"]);
  expect(former.map(({ name, how }) => `${name} ${how}`)).toEqual(agreed ? ["dev shutdown"] : []);
  expect(closedPlaces(ref)).toEqual(agreed ? [INSTANCE] : []);
  expect(listRequests(ref)).toEqual([]);
  expect(existsSync(ref.paths.agent("dev").run)).toBe(!agreed);
}

describe.each([
  ["processing an agreed shutdown", true],
  ["processing a crash", false],
])("%s", (_title, agreed) => {
  it("is finished by the next reconcile, at whichever step the previous process was killed", async () => {
    const home = testHome();
    const steps = await killAtEveryStep(async (n) => {
      const ref = await teamWithEnded(home, agreed, `crew-${n}`);
      const check = async (): Promise<void> => {
        await reconcile(reconcileContext(ref));
        await expectSettled(ref, agreed);
        expect(await reconcile(reconcileContext(ref))).toEqual([]);
        await expectSettled(ref, agreed);
      };
      return { child: reconcileTeam(home.root, ref.team, String(n)), check };
    });
    // With fewer steps, the counter would have missed calls.
    expect(steps).toBeGreaterThan(20);
  });
});

/** Returns dev's agreed shutdown, claimed by a process that lives until the test ends it. */
async function claimedByAnother(): Promise<{ ref: TeamRef; end: () => Promise<unknown> }> {
  const ref = await teamWithEnded(undefined, true);
  const other = spawn("sleep", ["600"]);
  onTestFinished(() => {
    other.kill("SIGKILL");
  });
  const ending: Ending = {
    id: "left",
    name: "dev",
    how: "shutdown",
    news: "dev has shut down.",
    tasks: ["1", "2"],
    process: dead,
    place: { instance: INSTANCE, backend: "test", spawnedAt: 1 },
    by: identityOf(other.pid ?? 0) ?? dead,
    at: Date.now(),
    tries: 1,
  };
  await updateTeam(ref, (config) => {
    const left = moveToFormer(config, "dev", "shutdown", 5);
    return left && { ...left, metadata: { _endings: [ending] } };
  });
  const end = (): Promise<unknown> => {
    other.kill("SIGKILL");
    return once(other, "close");
  };
  return { ref, end };
}

describe("an ending that another process handles", () => {
  it("is left to that process while it lives, and taken over when it dies", async () => {
    const { ref, end } = await claimedByAnother();
    const before = JSON.stringify(readTeam(ref));
    expect(await reconcile(reconcileContext(ref))).toEqual([]);
    expect(JSON.stringify(readTeam(ref))).toBe(before);
    expect(closedPlaces(ref)).toEqual([]);
    await end();
    expect(await reconcile(reconcileContext(ref))).toEqual([{ name: "dev", how: "shutdown", exit: null }]);
    await expectSettled(ref, true);
  });

  it("is awaited when a member is removed, and taken over when the process dies", async () => {
    const { ref, end } = await claimedByAnother();
    stopSteadyClock();
    const [done] = await Promise.all([removeEndedMember(reconcileContext(ref), "dev", "shutdown"), end()]);
    expect(done).toBe(false);
    await expectSettled(ref, true);
  });
});

it("reconcile › does not take over an ending that its own process is handling", async () => {
  const ref = await teamWithEnded(undefined, true);
  const ctx = reconcileContext(ref);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isClosing = false;
  const close = (): Promise<void> => {
    isClosing = true;
    return released;
  };
  const slow = { ...ctx.backends.of("test"), close };
  const first = reconcile({ ...ctx, backends: { ...ctx.backends, of: () => slow as never } });
  await eventually("the pane to be closed", () => isClosing);
  expect(await reconcile(reconcileContext(ref))).toEqual([]);
  expect(closedPlaces(ref)).toEqual([]);
  release();
  expect(await first).toMatchObject([{ name: "dev", how: "shutdown" }]);
});

it("reconcile › leaves a member's end to the process that kills it, and reports the end if that process is dead", async () => {
  const ref = await teamWithEnded();
  const killedBy = (by: ProcessIdentity) =>
    patchMember(ref, "dev", { metadata: { _kill: { by, at: Date.now() } } });
  const news = async () => (await unreadMessages(ref, LEAD_NAME)).length;
  await killedBy(ownIdentity());
  expect([await reconcile(reconcileContext(ref)), await news()]).toEqual([[], 0]);
  await killedBy(dead);
  expect([await reconcile(reconcileContext(ref)), await news()]).toMatchObject([[{ how: "crashed" }], 1]);
});

/** Stops the wall clock: no pause before the next attempt ends, however slow this machine is. */
function stopClock(): void {
  const spy = vi.spyOn(Date, "now").mockReturnValue(Date.now());
  onTestFinished(() => spy.mockRestore());
}

it("reconcile › gives up a pane that cannot be closed, after it has notified the lead and processed the other endings", async () => {
  const ref = await teamWithEnded(undefined, true);
  await addMembers(ref, [{ name: "ada", cwd: "/" }]);
  writeStatus(ref, "ada", statusOf({ process: dead, state: "running" }));
  stopClock();
  const ctx = reconcileContext(ref);
  const broken = { ...ctx.backends.of("test"), close: () => Promise.reject(new Error("no such server")) };
  const failing = (): Promise<unknown> =>
    reconcile({ ...ctx, backends: { ...ctx.backends, of: () => broken as never } });
  for (const number of [1, 2, 3]) {
    await expect(failing()).rejects.toThrow("no such server");
    const news = (await unreadMessages(ref, LEAD_NAME)).map(({ message }) => message.text);
    expect(news.filter((text) => text.includes("dev has shut down"))).toHaveLength(1);
    if (number === 3) break;
    expect(await failing()).toEqual([]);
    await makeDue(ref);
  }
  expect(await failing()).toEqual([]);
  expect(readTeam(ref).metadata).toBeUndefined();
  expect(readTeam(ref).members.find(({ name }) => name === "ada")).toMatchObject({ isActive: false });
});

it("reconcile › finishes the end of a member whose variables cannot be removed, and says so", async () => {
  const ref = await teamWithEnded(undefined, true);
  const directory = join(ref.home.root, "session-env", "s");
  // A link to itself cannot be listed.
  mkdirSync(dirname(directory), { recursive: true });
  rmSync(directory, { recursive: true, force: true });
  symlinkSync("s", directory);
  expect(await reconcile(reconcileContext(ref))).toEqual([{ name: "dev", how: "shutdown", exit: null }]);
  expect(existsSync(ref.paths.agent("dev").run)).toBe(false);
  const [news] = await unreadMessages(ref, LEAD_NAME);
  expect(news?.protocol).toMatchObject({
    message: expect.stringContaining(`\n${directory} could not be removed (ELOOP`),
  });
});

it("reconcile › retries until the lead is notified, and the status names the problem meanwhile", async () => {
  const ref = await teamWithEnded();
  const inbox = ref.paths.inbox(LEAD_NAME);
  stopClock();
  const restore = failingRenames((_from, to) => to === inbox);
  const ctx = reconcileContext(ref);
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await expect(reconcile(ctx)).rejects.toThrow(inbox);
    // Each attempt changes the config, which wakes the supervisor: only a pause prevents a busy loop.
    expect(await reconcile(ctx)).toEqual([]);
    await makeDue(ref);
  }
  expect((await teamStatus(ctx)).problems).toEqual([
    expect.stringMatching(/^The end of dev is not fully processed: .*team-lead.*[^.]\. A running lead/),
  ]);
  restore();
  expect(await reconcile(ctx)).toEqual([{ name: "dev", how: "crashed", exit: null }]);
  await expectSettled(ref, false);
  expect(await teamStatus(ctx)).not.toHaveProperty("problems");
});

it("reconcile › notifies the lead of an end whose worktree cannot be examined", async () => {
  const ref = await teamWithEnded(undefined, true);
  symlinkSync("loop", join(ref.home.root, "loop"));
  const path = join(ref.home.root, "loop", "dev");
  await patchMember(ref, "dev", {
    worktreePath: path,
    metadata: { _worktree: { path, branch: "b", base: "x", madeBranch: true, repository: "/" } },
  });
  const read = async () =>
    (await unreadMessages(ref, LEAD_NAME)).map(({ protocol }) =>
      protocol?.type === "teammate_terminated" ? protocol.message : "",
    );
  await expect(reconcile(reconcileContext(ref))).rejects.toThrow("ELOOP");
  expect(await read()).toEqual([
    expect.stringMatching(/^dev has shut down.*\nIts worktree \S+ could not be checked or removed: ELOOP/),
  ]);
});

/** Returns the team of {@link teamWithEnded} after an attempt that could not notify the lead, and a function that retries. */
async function halfProcessed(agreed = false): Promise<{ ref: TeamRef; retry: () => Promise<unknown> }> {
  const ref = await teamWithEnded(undefined, agreed);
  const inbox = ref.paths.inbox(LEAD_NAME);
  const restore = failingRenames((_from, to) => to === inbox);
  await expect(reconcile(reconcileContext(ref))).rejects.toThrow(inbox);
  expect(ownersIn(ref)).toEqual([undefined, undefined]);
  restore();
  const retry = async (): Promise<unknown> => {
    await makeDue(ref);
    return reconcile(reconcileContext(ref));
  };
  return { ref, retry };
}

function ownersIn(ref: TeamRef): unknown[] {
  return ["1", "2"].map((id) => getTask(ref, id).owner);
}

/** Records this process as dev's current process, with a permission request. */
function startAgain(ref: TeamRef, instance: string): void {
  const startedAt = Date.now();
  writeStatus(ref, "dev", statusOf({ process: ownIdentity(), instance, state: "running", startedAt }));
  const asked = { kind: "permission", from: "dev", summary: "Bash", payload: {}, at: startedAt } as const;
  openRequest(ref, { ...asked, id: "permission-1@dev" });
}

describe("a member that runs again before its end is fully processed", () => {
  it("keeps its restored tasks and its requests when the end is tried again", async () => {
    const { ref, retry } = await halfProcessed();
    const dev = findMember(readTeam(ref), "dev");
    expect(await clearForRestart(reconcileContext(ref), dev)).toEqual(["1", "2"]);
    startAgain(ref, INSTANCE);
    expect(await retry()).toMatchObject([{ name: "dev", how: "restarted" }]);
    expect(ownersIn(ref)).toEqual(["dev", "dev"]);
    expect(listRequests(ref)).toMatchObject([{ id: "permission-1@dev" }]);
  });

  it("keeps its tasks and its requests if it only shares the name of the member that left", async () => {
    const { ref, retry } = await halfProcessed(true);
    await addMembers(ref, [{ name: "dev", cwd: "/" }]);
    await changeTask(ref, "1", (task) => ({ ...task, owner: "dev" }));
    startAgain(ref, "5f0e2a6e-0000-4000-8000-00000000000e");
    expect(await retry()).toMatchObject([{ name: "dev", how: "shutdown" }]);
    expect(ownersIn(ref)).toEqual(["dev", undefined]);
    expect(listRequests(ref)).toMatchObject([{ id: "permission-1@dev" }]);
  });

  it("keeps its tasks when it starts while another process is about to claim its end", async () => {
    const ref = await teamWithEnded();
    let isStarted = false;
    // The tasks are read after the status, and before the config is locked.
    const get = <T>(path: string, read: () => T): T => {
      if (path.startsWith(ref.paths.tasks) && !isStarted) {
        isStarted = true;
        startAgain(ref, INSTANCE);
      }
      return read();
    };
    const readCache = { get, has: existsSync };
    expect(await reconcile(reconcileContext({ ...ref, readCache }))).toEqual([]);
    expect(isStarted).toBe(true);
    expect(ownersIn(ref)).toEqual(["dev", "dev"]);
  });
});
