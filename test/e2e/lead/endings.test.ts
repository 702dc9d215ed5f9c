import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { deleteTeam } from "../../../src/operations/ending/delete-team.ts";
import { killTeammates } from "../../../src/operations/ending/kill.ts";
import { requestShutdown, shutdownTeammates } from "../../../src/operations/ending/shutdown.ts";
import { endRun } from "../../../src/operations/run/end-run.ts";
import { areTeammatesWorking, isRunOver, runState } from "../../../src/operations/run/run-state.ts";
import { type MemberStatus, teamStatus } from "../../../src/operations/status.ts";
import { type NoticedEnd, reconcile } from "../../../src/operations/supervision/reconcile.ts";
import { supervise } from "../../../src/operations/supervision/supervise.ts";
import { ownIdentity, startTimeOf } from "../../../src/os/process/identity.ts";
import { processTable } from "../../../src/os/process/process-table.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { readTeam, updateTeam } from "../../../src/team/config/config.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { unreadCount } from "../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { claimTask } from "../../../src/team/tasks/claim-task.ts";
import { createTask, getTask } from "../../../src/team/tasks/tasks.ts";
import { refusesShutdown } from "../../support/model/playbook-turns.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { leadNotices } from "../../support/team/lead-notices.ts";
import { ledTeam } from "../../support/team/led-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { contextOf } from "../../support/worker/start-worker.ts";

/** Milliseconds; longer than a test may take. */
const NEVER_MS = 3_600_000;
/** A time limit that no machine reaches. */
const PATIENT = { timeoutMs: 180_000 };
const REFUSES: PlaybookTurn[] = [{ ...refusesShutdown("not done"), repeat: true }];
const BUSY: PlaybookTurn[] = [
  { tools: [{ name: "Bash", input: { command: "sleep 600 & echo $! > busy; wait" } }] },
];
/** Starts a command that outlives the agent. */
const LEAVES_COMMAND: PlaybookTurn[] = [
  { tools: [{ name: "Bash", input: { command: "nohup sleep 600 >/dev/null 2>&1 & echo $! > child-pid" } }] },
];

const pidIn = (file: string): Promise<number> =>
  eventually("the child's pid", () => existsSync(file) && (Number(readFileSync(file, "utf8")) || false));
const pidOf = (ref: TeamRef, name = "dev"): number => readStatus(ref, name)?.process.pid ?? 0;
const runs = (pid: number): boolean => startTimeOf(pid) !== undefined;
/** Creates a team whose dev was killed while it waited for a permission. */
async function killedDuringRequest() {
  const { ref, ctx, spawn } = await ledTeam({
    dev: [{ tools: [{ name: "Bash", input: { command: "touch asked" } }] }],
  });
  await spawn({ name: "dev", prompt: "begin", permissionMode: "default" });
  await eventually("the request", async () => (await teamStatus(ctx)).approvals.length === 1);
  const pid = pidOf(ref);
  process.kill(pid, "SIGKILL");
  await eventually("dev's end", () => !runs(pid));
  return ctx;
}
const names = (ref: TeamRef) => readTeam(ref).members.map(({ name }) => name);
const former = (ref: TeamRef) => (readTeam(ref).former ?? []).map(({ name, how }) => `${name} ${how}`);

describe("shutdown", () => {
  it("ends the process, unassigns its tasks, notifies the lead and moves the member to the former members when the teammate agrees", async () => {
    const { ref, ctx, spawn } = await ledTeam();
    await spawn("dev");
    const pid = pidOf(ref);
    await createTask(ref, { subject: "count" });
    await claimTask(ref, "dev", "1");
    expect(await shutdownTeammates(ctx, ["dev"], PATIENT)).toEqual([{ name: "dev", outcome: "approved" }]);
    expect(runs(pid)).toBe(false);
    expect(names(ref)).toEqual([LEAD_NAME]);
    expect(former(ref)).toEqual(["dev shutdown"]);
    expect(getTask(ref, "1")).toMatchObject({ status: "pending" });
    expect(getTask(ref, "1").owner).toBeUndefined();
    expect(await leadNotices(ref)).toEqual(["dev has shut down. Unassigned tasks: #1 count."]);
    expect(existsSync(ref.paths.agent("dev").run)).toBe(false);
    expect(existsSync(ref.paths.agent("dev").runtime)).toBe(false);
  });

  it("also ends the teammate's background processes when the teammate agrees", async () => {
    const { ref, ctx, spawn, place } = await ledTeam({ dev: LEAVES_COMMAND });
    await spawn({ name: "dev", prompt: "begin" });
    const child = await pidIn(join(place.home, "child-pid"));
    await eventually("dev to be idle", () => isAtRest(ref, "dev"));
    expect(runs(child)).toBe(true);
    expect(await shutdownTeammates(ctx, ["dev"], PATIENT)).toEqual([{ name: "dev", outcome: "approved" }]);
    expect(runs(child)).toBe(false);
  });

  it("reports the reason and leaves the teammate running when the teammate refuses", async () => {
    const { ref, ctx, spawn } = await ledTeam({ dev: REFUSES });
    await spawn("dev");
    expect(await shutdownTeammates(ctx, ["dev"], PATIENT)).toEqual([
      { name: "dev", outcome: "rejected", reason: "not done" },
    ]);
    expect(runs(pidOf(ref))).toBe(true);
    expect(names(ref)).toEqual([LEAD_NAME, "dev"]);
    expect(await leadNotices(ref)).toEqual([]);
  });

  it("changes nothing when the request times out", async () => {
    const { ref, ctx, spawn, place } = await ledTeam({ dev: BUSY });
    await spawn({ name: "dev", prompt: "begin" });
    await eventually("dev's command", () => existsSync(join(place.home, "busy")));
    expect(await shutdownTeammates(ctx, ["dev"], { timeoutMs: 300 })).toEqual([
      { name: "dev", outcome: "timed-out" },
    ]);
    expect(runs(pidOf(ref))).toBe(true);
    expect(readTeam(ref).former ?? []).toEqual([]);
    expect(await leadNotices(ref)).toEqual([]);
  });

  it("reports a teammate that has already ended as gone", async () => {
    const { ref, ctx, spawn } = await ledTeam();
    await spawn("dev", "ada");
    const pid = pidOf(ref);
    process.kill(pid, "SIGKILL");
    await eventually("dev's end", () => !runs(pid));
    expect(await shutdownTeammates(ctx, ["dev", "ada"], PATIENT)).toEqual(
      expect.arrayContaining([
        { name: "dev", outcome: "gone" },
        { name: "ada", outcome: "approved" },
      ]),
    );
    expect(names(ref)).toEqual([LEAD_NAME]);
  });

  it("waits for the answer of a member of another program", async () => {
    const { ref, ctx } = await ledTeam();
    await joinForeign(ref, "guest");
    expect(await shutdownTeammates(ctx, ["guest"], { timeoutMs: 200 })).toEqual([
      { name: "guest", outcome: "timed-out" },
    ]);
    expect(names(ref)).toContain("guest");
    const asking = shutdownTeammates(ctx, ["guest"], PATIENT);
    const requestId = await eventually("the request", async () => {
      const [, second] = await history(ref, "guest");
      return second && (JSON.parse(second.text).requestId as string);
    });
    const text = JSON.stringify({ type: "shutdown_approved", requestId, from: "guest" });
    await sendMessage(ref, { from: "guest", to: LEAD_NAME, text });
    expect(await asking).toEqual([{ name: "guest", outcome: "approved", unproven: true }]);
    expect(names(ref)).not.toContain("guest");
  });

  it("fails with NOT_LEAD when a teammate calls it (S45)", async () => {
    const { ref, place } = await ledTeam();
    const ctx = contextOf(ref, "dev", { env: place.env });
    await expect(requestShutdown(ctx, ["dev"])).rejects.toMatchObject({ code: "NOT_LEAD" });
  });
});

async function joinForeign(ref: TeamRef, name: string): Promise<void> {
  await addMembers(ref, [{ name, cwd: "/", backendType: "tmux" }]);
}

describe("kill", () => {
  it("asks first, and sends no signal when the teammate agrees", async () => {
    const { ref, ctx, spawn } = await ledTeam();
    await spawn("dev");
    const pid = pidOf(ref);
    expect(await killTeammates(ctx, ["dev"], PATIENT)).toEqual([
      { name: "dev", outcome: "shut-down", left: [] },
    ]);
    expect(runs(pid)).toBe(false);
    expect(former(ref)).toEqual(["dev shutdown"]);
  });

  it("ends a busy teammate with its child processes after the timeout (S40)", async () => {
    const { ref, ctx, spawn, place } = await ledTeam({ dev: BUSY });
    await spawn({ name: "dev", prompt: "begin" });
    const child = await pidIn(join(place.home, "busy"));
    const [pid, script] = [pidOf(ref), readPlace(ref, "dev")?.panePid ?? 0];
    expect([pid, script, child].map(runs)).toEqual([true, true, true]);
    const reports = await killTeammates(ctx, ["dev"], { timeoutMs: 200 });
    expect(reports).toEqual([{ name: "dev", outcome: "killed", left: [] }]);
    expect([pid, script, child].map(runs)).toEqual([false, false, false]);
    expect(former(ref)).toEqual(["dev killed"]);
    expect(await leadNotices(ref)).toEqual(["dev was killed."]);
  });

  it("sends no signal when it is aborted while it asks", async () => {
    const { ref, ctx, spawn, place } = await ledTeam({ dev: BUSY });
    await spawn({ name: "dev", prompt: "begin" });
    await pidIn(join(place.home, "busy"));
    const stop = new AbortController();
    const killing = killTeammates(ctx, ["dev"], { ...PATIENT, signal: stop.signal });
    await eventually("the request", () => unreadCount(ref, "dev") > 0);
    stop.abort();
    await expect(killing).rejects.toMatchObject({
      code: "INTERRUPTED",
      message: "Interrupted while waiting for dev to agree to shut down; no signal was sent.",
    });
    expect(runs(pidOf(ref))).toBe(true);
    expect(names(ref)).toEqual([LEAD_NAME, "dev"]);
  });

  it("--force › does not ask, and keeps the member's inbox and tasks (S47)", async () => {
    const { ref, ctx, spawn } = await ledTeam();
    await spawn("dev");
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "keep me" });
    await eventually("the message to be read", () => unreadCount(ref, "dev") === 0);
    await createTask(ref, { subject: "count" });
    await claimTask(ref, "dev", "1");
    expect(await killTeammates(ctx, ["dev"], { force: true })).toEqual([
      { name: "dev", outcome: "killed", left: [] },
    ]);
    expect(await history(ref, "dev")).toMatchObject([{ text: "keep me", read: true }]);
    expect(await leadNotices(ref)).toEqual(["dev was killed. Unassigned tasks: #1 count."]);
    expect(getTask(ref, "1").status).toBe("pending");
  });

  it("withdraws the open requests of a crashed teammate", async () => {
    const ctx = await killedDuringRequest();
    const kinds = (await teamStatus(ctx)).approvals.map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(["crash", "permission"]);
    expect(await killTeammates(ctx, ["dev"])).toEqual([{ name: "dev", outcome: "gone", left: [] }]);
    expect((await teamStatus(ctx)).approvals).toEqual([]);
  });

  it("does not end a member if a name is unknown or the caller is a teammate", async () => {
    const { ref, ctx, spawn, place } = await ledTeam();
    await spawn("dev");
    await expect(killTeammates(ctx, ["dev", "nobody"])).rejects.toMatchObject({ code: "AGENT_NOT_FOUND" });
    const dev = contextOf(ref, "dev", { env: place.env });
    await expect(killTeammates(dev, ["dev"])).rejects.toMatchObject({ code: "NOT_LEAD" });
    expect(runs(pidOf(ref))).toBe(true);
  });
});

describe("delete", () => {
  it("is refused while a teammate is alive, and changes nothing", async () => {
    const { ref, ctx, spawn } = await ledTeam();
    await spawn("dev");
    const before = readFileSync(ref.paths.config, "utf8");
    await expect(deleteTeam(ctx)).rejects.toMatchObject({
      code: "ACTIVE_MEMBERS",
      details: { active: ["dev"] },
    });
    expect(readFileSync(ref.paths.config, "utf8")).toBe(before);
    expect(runs(pidOf(ref))).toBe(true);
  });

  it("--force › ends the teammates, removes all files and leaves other teams untouched (S44, S41)", async () => {
    const { ref, ctx, spawn, place } = await ledTeam();
    const other = await ledTeam({}, "crew-two", place);
    await sendMessage(other.ref, { from: "user", to: LEAD_NAME, text: "hi" });
    await createTask(other.ref, { subject: "theirs" });
    const [teamBefore, tasksBefore] = [snapshot(other.ref.paths.dir), snapshot(other.ref.paths.tasks)];
    await spawn("dev", "ada");
    const pids = [pidOf(ref), pidOf(ref, "ada")];
    await deleteTeam(ctx, { force: true });
    expect(pids.map(runs)).toEqual([false, false]);
    for (const path of [ref.paths.dir, ref.paths.tasks, ref.paths.runtime])
      expect(existsSync(path), path).toBe(false);
    expect(readdirSync(join(place.root, "teams"))).toEqual(["crew-two"]);
    expect(snapshot(other.ref.paths.dir)).toEqual(teamBefore);
    expect(snapshot(other.ref.paths.tasks)).toEqual(tasksBefore);
  });
});

function snapshot(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());
  return Object.fromEntries(files.map((path) => [relative(directory, path), readFileSync(path, "utf8")]));
}

describe("an agent killed by a signal (S33)", () => {
  it("is noticed and reported once when several leads check at the same time", async () => {
    const { ref, ctx, spawn } = await ledTeam();
    await spawn("dev");
    await createTask(ref, { subject: "count" });
    await claimTask(ref, "dev", "1");
    const pid = pidOf(ref);
    process.kill(pid, "SIGKILL");
    await eventually("the exit record", async () => (await memberOf(ref, ctx)).exit);
    // Each check has a separate context, as separate commands have: checks in one context are serialized.
    const three = [{ ...ctx }, { ...ctx }, { ...ctx }];
    const ends = (await Promise.all(three.map((own) => reconcile(own)))).flat();
    expect(ends).toMatchObject([{ name: "dev", how: "crashed", exit: { signal: "SIGKILL", code: null } }]);
    expect(await reconcile(ctx)).toEqual([]);
    expect(await leadNotices(ref)).toEqual([
      expect.stringMatching(/^dev crashed \(SIGKILL\)\. Unassigned tasks: #1 count\./),
    ]);
    expect(getTask(ref, "1")).toMatchObject({ status: "pending" });
    expect(await memberOf(ref, ctx)).toMatchObject({
      state: "crashed",
      alive: false,
      pid: null,
      activity: "",
      exit: { code: null, signal: "SIGKILL", at: expect.any(Number), lastLines: expect.any(Array) },
    });
    expect(names(ref)).toContain("dev");
  });

  async function watched(
    end: (ref: TeamRef, nextCheck: () => Promise<unknown>) => unknown,
  ): Promise<{ ends: NoticedEnd[]; ref: TeamRef }> {
    const { ref, ctx, spawn } = await ledTeam();
    await spawn("dev");
    const watching = new AbortController();
    const ends: NoticedEnd[] = [];
    let checks = 0;
    const watch = supervise(ctx, {
      signal: watching.signal,
      slowCheckMs: NEVER_MS,
      onEnd: (end) => ends.push(end),
      onChange: () => {
        checks += 1;
      },
      onProblem: (message) => {
        throw new Error(message);
      },
    });
    onTestFinished(async () => {
      watching.abort();
      await watch;
    });
    await eventually("the first check", () => checks > 0);
    await end(ref, async () => {
      const before = checks;
      await createTask(ref, { subject: "a change", description: "" });
      await eventually("the next check", () => checks > before);
    });
    await eventually("the noticed end", () => ends.length === 1);
    await eventually("the notification", async () => (await leadNotices(ref)).length === 1);
    return { ends, ref };
  }

  it("is reported to a supervising lead without a slow check", async () => {
    const { ends } = await watched((ref) => process.kill(pidOf(ref), "SIGKILL"));
    expect(ends).toMatchObject([{ name: "dev", how: "crashed", exit: { signal: "SIGKILL" } }]);
  });

  it("is reported without a slow check when its launch scripts were killed too and no exit was recorded", async () => {
    const { ends, ref } = await watched(async (team, nextCheck) => {
      const [script = 0, inner = 0] = processTree(readPlace(team, "dev")?.panePid ?? 0);
      for (const pid of [script, inner]) process.kill(pid, "SIGKILL");
      // When the machine kills many processes at once, the agent dies last.
      await nextCheck();
      process.kill(pidOf(team), "SIGKILL");
    });
    expect(ends).toEqual([{ name: "dev", how: "crashed", exit: null }]);
    expect(await leadNotices(ref)).toEqual(["dev crashed."]);
  });

  it("has its open requests withdrawn", async () => {
    const ctx = await killedDuringRequest();
    await eventually("the notice", async () => (await reconcile(ctx)).length === 1);
    expect((await teamStatus(ctx)).approvals).toMatchObject([{ kind: "crash", from: "dev" }]);
  });
});

/** A process and its descendants, parents first. */
function processTree(pid: number): number[] {
  const children = processTable().filter(({ ppid }) => ppid === pid);
  return [pid, ...children.flatMap((child) => processTree(child.pid))];
}

const memberOf = async (
  ref: TeamRef,
  ctx: Parameters<typeof teamStatus>[0],
  name = "dev",
): Promise<MemberStatus> => {
  const found = (await teamStatus({ ...ctx, ref })).members.find((member) => member.name === name);
  if (found === undefined) throw new Error(`${name} is not a member`);
  return found;
};

describe("an agent that ends during a turn (S34)", () => {
  it("is reported to the lead with its signal and last lines", async () => {
    const kill = { name: "Bash", input: { command: "kill -TERM $PPID; sleep 300" } };
    const { ref, ctx, spawn } = await ledTeam({ dev: [{ say: "I do something foolish", tools: [kill] }] });
    await spawn({ name: "dev", prompt: "begin" });
    await eventually("the exit record", async () => (await memberOf(ref, ctx)).exit);
    await reconcile(ctx);
    const [notice] = await leadNotices(ref);
    expect(notice).toContain("(SIGTERM)");
    expect(notice).toContain("I do something foolish");
  });
});

describe("an agreed shutdown that no command waited for", () => {
  it("is completed by the next check", async () => {
    const { ref, ctx, spawn } = await ledTeam();
    await spawn("dev");
    const pid = pidOf(ref);
    await requestShutdown(ctx, ["dev"]);
    await eventually("dev's end", () => !runs(pid));
    const ends = (await Promise.all([{ ...ctx }, { ...ctx }].map((own) => reconcile(own)))).flat();
    expect(ends).toEqual([{ name: "dev", how: "shutdown", exit: null }]);
    expect(former(ref)).toEqual(["dev shutdown"]);
    expect(await leadNotices(ref)).toEqual(["dev has shut down."]);
  });
});

describe("team status", () => {
  it("has exactly the documented fields (S49)", async () => {
    const { ref, ctx, spawn, place } = await ledTeam({
      dev: [{ say: "hm", usage: { input: 3, output: 4 } }],
    });
    await spawn({ name: "dev", prompt: "begin" });
    await createTask(ref, { subject: "count" });
    await claimTask(ref, "dev", "1");
    await eventually("the turn", () => readStatus(ref, "dev")?.tokens.output === 4 && isAtRest(ref, "dev"));
    const status = await teamStatus(ctx);
    expect(status).toEqual({
      team: "crew",
      displayName: "crew",
      metadata: {},
      leadAlive: null,
      members: [
        expect.objectContaining({ name: LEAD_NAME, color: null, alive: null, state: "unknown" }),
        expect.anything(),
      ],
      tasks: {
        pending: 0,
        inProgress: 1,
        completed: 0,
        blocked: 0,
        list: [
          {
            ...getTask(ref, "1"),
            verify: null,
            reviewer: null,
            touches: [],
            said: false,
            shown: "none",
            verifyRun: null,
          },
        ],
      },
      deadlock: null,
      approvals: [],
      budget: null,
    });
    expect(status.members[1]).toEqual({
      name: "dev",
      agentId: "dev@crew",
      agentType: "general-purpose",
      model: `scripted:${join(place.home, "play.json")}`,
      mode: "bypassPermissions",
      sandbox: null,
      color: "blue",
      backend: "process",
      state: "idle",
      activity: "",
      paneId: null,
      pid: pidOf(ref),
      alive: true,
      cwd: place.home,
      worktree: null,
      taskIds: ["1"],
      unread: 0,
      mail: { queued: 0, delivered: 0, inTurn: 0 },
      tokens: { input: 3, output: 4, cacheRead: 0, cacheWrite: 0 },
      costUsd: 0,
      budget: null,
      startedAt: expect.any(Number),
      lastActivityAt: expect.any(Number),
      exit: null,
      metadata: {},
    });
  });
});

/** Records this process as the lead, as a run does. */
const leadHere = (ref: TeamRef) =>
  updateTeam(ref, (config) => ({ ...config, leadProcess: { ...ownIdentity(), claimedAt: 1 } }));

describe("end of a run", () => {
  it("waits for busy and interrupted members and for messages on their way to the lead", async () => {
    const { ref, ctx, spawn, place } = await ledTeam({ dev: BUSY });
    expect(runState(ctx)).toEqual({
      teamExists: true,
      busy: 0,
      interrupted: 0,
      unprocessedEnds: 0,
      unseenByLead: 0,
    });
    await spawn({ name: "dev", prompt: "begin" }, "ada");
    await eventually("dev's command", () => existsSync(join(place.home, "busy")));
    await eventually("ada to be idle", () => isAtRest(ref, "ada"));
    expect(runState(ctx)).toEqual({
      teamExists: true,
      busy: 1,
      interrupted: 0,
      unprocessedEnds: 0,
      unseenByLead: 0,
    });
    expect(areTeammatesWorking(ctx)).toBe(true);
    await sendMessage(ref, {
      from: LEAD_NAME,
      to: "dev",
      text: JSON.stringify({ type: "interrupt_request", from: LEAD_NAME }),
    });
    await eventually("the notice", () => unreadCount(ref, LEAD_NAME) === 1);
    await eventually("dev to be idle", () => isAtRest(ref, "dev"));
    expect(runState(ctx)).toEqual({
      teamExists: true,
      busy: 0,
      interrupted: 1,
      unprocessedEnds: 0,
      unseenByLead: 1,
    });
    expect(isRunOver(runState(ctx))).toBe(false);
    expect(isRunOver(runState(ctx, 1))).toBe(true);
    // Without deferred messages (0), the unread notice counts as work; with one deferred (1), it does not.
    expect([areTeammatesWorking(ctx), areTeammatesWorking(ctx, 1)]).toEqual([true, false]);
    // The team does not belong to this process yet, so nothing is ended.
    expect(await endRun(ctx, PATIENT)).toEqual([]);
    await leadHere(ref);
    const reports = await endRun(ctx, PATIENT);
    expect(reports.map(({ name, outcome }) => `${name} ${outcome}`).sort()).toEqual([
      "ada shut-down",
      "dev shut-down",
    ]);
    expect(existsSync(ref.paths.dir)).toBe(false);
    expect(runState(ctx)).toEqual({
      teamExists: false,
      busy: 0,
      interrupted: 0,
      unprocessedEnds: 0,
      unseenByLead: 0,
    });
    expect(await endRun(ctx, PATIENT)).toEqual([]);
  });

  it("keeps the team's files with `keep`", async () => {
    const { ref, ctx, spawn } = await ledTeam();
    await spawn("dev");
    await leadHere(ref);
    await endRun(ctx, { ...PATIENT, keep: true });
    expect(names(ref)).toEqual([LEAD_NAME]);
    expect(former(ref)).toEqual(["dev shutdown"]);
  });
});
