import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Backend } from "../../../../src/backend/backend.ts";
import { answerApproval, listApprovals } from "../../../../src/operations/approvals/approvals.ts";
import { requestShutdown, shutdownTeammates } from "../../../../src/operations/ending/shutdown.ts";
import { downTeam } from "../../../../src/operations/resume/down.ts";
import { resumeTeam } from "../../../../src/operations/resume/resume.ts";
import { teamStatus } from "../../../../src/operations/status.ts";
import { reconcile } from "../../../../src/operations/supervision/reconcile.ts";
import { identityOf, ownIdentity, startTimeOf } from "../../../../src/os/process/identity.ts";
import { processTable, signalProcess } from "../../../../src/os/process/process-table.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../../src/schema/playbook.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { unreadCount } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { keepsOnExit } from "../../../../src/team/members/start-claims.ts";
import { readPlace, readStatus } from "../../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { claimTask } from "../../../../src/team/tasks/claim-task.ts";
import { createTask, getTask } from "../../../../src/team/tasks/tasks.ts";
import { refusesShutdown } from "../../../support/model/playbook-turns.ts";
import { agentsOf } from "../../../support/processes/agent-processes.ts";
import { isAtRest } from "../../../support/team/is-at-rest.ts";
import { leadNotices } from "../../../support/team/lead-notices.ts";
import { type LedTeam, ledTeam } from "../../../support/team/led-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** A time limit that no machine reaches. */
const PATIENT = { timeoutMs: 180_000 };
const ECHO: PlaybookTurn[] = [{ say: "I heard {{input}}", repeat: true }];
const REFUSES: PlaybookTurn[] = [{ ...refusesShutdown("not done"), repeat: true }];

const pidOf = (ref: TeamRef, name = "dev"): number => readStatus(ref, name)?.process.pid ?? 0;
const runs = (pid: number): boolean => startTimeOf(pid) !== undefined;
const membersOf = (ref: TeamRef): string[] => readTeam(ref).members.map(({ name }) => name);
const idle = (ref: TeamRef, name = "dev"): Promise<unknown> =>
  eventually(`${name} to be idle`, () => isAtRest(ref, name));
const done = (ref: TeamRef, name: string, text: string): Promise<unknown> =>
  eventually(`the end of ${name}'s turn`, async () =>
    (await history(ref, name, { all: true })).some((one) => one.text.includes(text) && one.state === "done"),
  );

/** Resumes as a command does: waits for background work too. */
async function resume(ctx: LedTeam["ctx"], options: Parameters<typeof resumeTeam>[1] = {}) {
  const background: Promise<unknown>[] = [];
  const report = await resumeTeam(ctx, { ...options, background: (work) => background.push(work) });
  await Promise.all(background);
  return report;
}
const outcomesOf = ({ members }: Awaited<ReturnType<typeof resumeTeam>>) =>
  members.map(({ name, outcome }) => `${name} ${outcome}`);

async function killAgent(ref: TeamRef, name = "dev"): Promise<void> {
  const [pid, script] = [pidOf(ref, name), readPlace(ref, name)?.panePid ?? 0];
  signalProcess(pid, "SIGKILL");
  await eventually(`the end of ${name}`, () => !runs(pid) && !runs(script));
}

describe("resume", () => {
  it("after a reboot › restarts every member, and spares processes that reuse their pids", async () => {
    const { ref, ctx, spawn: start } = await ledTeam({ dev: ECHO });
    await start({ name: "dev", prompt: "before" });
    await done(ref, "dev", "before");
    await killAgent(ref);
    const bystander = spawn("sleep", ["300"]);
    onTestFinished(() => void bystander.kill());
    const { pid, procStart } = identityOf(bystander.pid ?? 0) ?? ownIdentity();
    const paths = ref.paths.agent("dev");
    rewrite(paths.status, (status) => ({
      ...status,
      process: { ...status.process, pid, procStart, bootId: "another" },
    }));
    rewrite(paths.place, (place) => ({
      ...place,
      panePid: pid,
      paneProcStart: procStart,
      bootId: "another",
    }));
    const session = readStatus(ref, "dev")?.sessionId;
    expect((await resume(ctx)).members).toMatchObject([{ outcome: "restarted", conversation: session }]);
    expect(readStatus(ref, "dev")?.sessionId).toBe(session);
    expect(runs(pid)).toBe(true);
    expect([pidOf(ref) === pid, runs(pidOf(ref))]).toEqual([false, true]);
  });

  it.each([
    ["empty after a power cut", (path: string) => writeFileSync(path, "")],
    ["missing", (path: string) => rmSync(path)],
  ])("continues the conversation of a member whose status is %s", async (_why, lose) => {
    const { ref, ctx, spawn: start } = await ledTeam({ dev: ECHO });
    await start({ name: "dev", prompt: "before" });
    await done(ref, "dev", "before");
    await killAgent(ref);
    const session = readStatus(ref, "dev")?.sessionId;
    lose(ref.paths.agent("dev").status);
    expect((await resume(ctx)).members).toMatchObject([{ outcome: "restarted", conversation: session }]);
    expect(readStatus(ref, "dev")?.sessionId).toBe(session);
  });

  it("leaves a live lead alone, and restarts its dead teammates", async () => {
    const { ref, ctx, spawn: start } = await ledTeam();
    await start("dev", "ada");
    await updateTeam(ref, (config) => ({ ...config, leadProcess: { ...ownIdentity(), claimedAt: 1 } }));
    const before = readTeam(ref);
    await killAgent(ref);
    const report = await resume(ctx);
    expect([report.lead, ...outcomesOf(report)]).toEqual(["process", "dev restarted", "ada alive"]);
    const { leadProcess, leadSessionId } = readTeam(ref);
    expect({ leadProcess, leadSessionId }).toEqual({
      leadProcess: before.leadProcess,
      leadSessionId: before.leadSessionId,
    });
  });

  it("replaces a lead that may run on another machine only with force", async () => {
    const { ref, ctx } = await ledTeam();
    const elsewhere = { ...ownIdentity(), pidSpace: "elsewhere#1", claimedAt: 1 };
    await updateTeam(ref, (config) => ({ ...config, leadProcess: elsewhere }));
    expect((await resume(ctx)).lead).toBe("unknown");
    expect(readTeam(ref).leadProcess).toEqual(elsewhere);
    expect((await resume(ctx, { force: true })).lead).toBe("taken");
    expect(readTeam(ref).leadProcess).toBeUndefined();
  });

  it("reports a member that cannot start, restarts the others, and keeps its state for the next resume", async () => {
    const { ref, ctx, spawn: start, place } = await ledTeam({ dev: ECHO });
    const cwd = join(place.home, "work");
    mkdirSync(cwd);
    await start({ name: "dev", prompt: "before", cwd }, "ada");
    await done(ref, "dev", "before");
    await Promise.all([killAgent(ref), killAgent(ref, "ada")]);
    const session = readStatus(ref, "dev")?.sessionId;
    rmdirSync(cwd);
    const first = await resume(ctx);
    expect(outcomesOf(first)).toEqual(["dev failed", "ada restarted"]);
    expect(first.members[0]?.error).toMatchObject({
      code: "SPAWN_FAILED",
      message: expect.stringContaining(cwd),
    });
    const { members } = await teamStatus(ctx);
    expect(members.find(({ name }) => name === "dev")).toMatchObject({
      state: "crashed",
      exit: { signal: "SIGKILL" },
    });
    mkdirSync(cwd);
    const second = await resume(ctx);
    expect(second.members).toMatchObject([
      { outcome: "restarted", conversation: session },
      { outcome: "alive" },
    ]);
  });

  it("reassigns tasks that are still free, and keeps a member's permissions and tools", async () => {
    const { ref, ctx, spawn: start } = await ledTeam();
    await start({ name: "dev", tools: ["Read"], disallowedTools: ["Bash(rm:*)"] }, "ada");
    for (const subject of ["count", "read"]) await createTask(ref, { subject });
    await claimTask(ref, "dev", "1");
    await claimTask(ref, "dev", "2");
    await killAgent(ref);
    await reconcile(ctx);
    await claimTask(ref, "ada", "2");
    expect((await resume(ctx)).members[0]).toMatchObject({ outcome: "restarted", taskIds: ["1"] });
    expect([getTask(ref, "1").owner, getTask(ref, "2").owner]).toEqual(["dev", "ada"]);
    const argv = argvOf(pidOf(ref));
    expect(argv).toContain("--tools Read");
    expect(argv).toContain("--disallowedTools Bash(rm:*)");
  });

  it("reassigns the tasks as well when the crash is approved", async () => {
    const { ref, ctx, spawn: start } = await ledTeam();
    await start({ name: "dev" });
    await createTask(ref, { subject: "count" });
    await claimTask(ref, "dev", "1");
    await killAgent(ref);
    await reconcile(ctx);
    expect(getTask(ref, "1").owner).toBeUndefined();
    const [crash] = (await teamStatus(ctx)).approvals;
    expect(crash).toMatchObject({ kind: "crash", from: "dev" });
    await answerApproval(ctx, crash?.id ?? "", { approve: true });
    expect(getTask(ref, "1").owner).toBe("dev");
  });

  it("continues an approved plan, and asks again for a plan without an answer", async () => {
    const plan = [
      { tools: [{ name: "Write", input: { file_path: "{{plan_file}}", content: "# Do it" } }] },
      { tools: [{ name: "ExitPlanMode", input: {} }] },
    ];
    const work = { on: { contains: "go on" }, tools: [{ name: "Bash", input: { command: "touch made" } }] };
    const {
      ref,
      ctx,
      spawn: start,
      place,
    } = await ledTeam({ dev: [...plan, { say: "I begin" }, work], ada: plan });
    const input = { prompt: "plan", plan: true, permissionMode: "bypassPermissions" } as const;
    await start({ name: "dev", ...input }, { name: "ada", ...input });
    const requests = await eventually("both plans", () => {
      const all = listApprovals(ref);
      return all.length === 2 && all;
    });
    await answerApproval(ctx, requests.find(({ from }) => from === "dev")?.id ?? "", { approve: true });
    await done(ref, "dev", "plan_approval_response");
    await Promise.all([killAgent(ref), killAgent(ref, "ada")]);
    expect(outcomesOf(await resume(ctx))).toEqual(["dev restarted", "ada restarted"]);
    const [again, ...others] = await eventually("the plan", () => {
      const all = listApprovals(ref);
      return all.length > 0 && all;
    });
    expect([again?.from, again?.kind, others]).toEqual(["ada", "plan", []]);
    expect(requests.map(({ id }) => id)).not.toContain(again?.id);
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "go on" });
    await eventually("dev's command", () => existsSync(join(place.home, "made")));
  });

  it("first ends background processes that the previous process left", async () => {
    const leaves = { name: "Bash", input: { command: "nohup sleep 600 >/dev/null 2>&1 & echo $! > pid" } };
    const { ref, ctx, spawn: start, place } = await ledTeam({ dev: [{ tools: [leaves] }] });
    await start({ name: "dev", prompt: "before" });
    await done(ref, "dev", "before");
    const pid = Number(readFileSync(join(place.home, "pid"), "utf8"));
    await killAgent(ref);
    expect(runs(pid)).toBe(true);
    expect(outcomesOf(await resume(ctx))).toEqual(["dev restarted"]);
    expect(runs(pid)).toBe(false);
  });

  // teams finds a start's processes by a marker in their environment, which other systems do not show.
  it.skipIf(process.platform !== "linux")(
    "ends the processes of an interrupted start, and starts again",
    async () => {
      const { ref, ctx, spawn: start } = await ledTeam();
      await start("dev");
      await killAgent(ref);
      const begun = spawn("sleep", ["300"], { env: { ...process.env, TEAMS_INSTANCE: "begun-before" } });
      onTestFinished(() => void begun.kill());
      const by = { ...ownIdentity(), procStart: "1" };
      // The claim is older than any start, so no process waits for it.
      const claim = { instance: "begun-before", by, at: Date.now() - 31_000 };
      await updateTeam(ref, (config) => ({
        ...config,
        members: config.members.map((one) =>
          one.name === "dev" ? { ...one, metadata: { ...one.metadata, _restart: claim } } : one,
        ),
      }));
      expect(outcomesOf(await resume(ctx))).toEqual(["dev restarted"]);
      expect(runs(begun.pid ?? 0)).toBe(false);
      expect(runs(pidOf(ref))).toBe(true);
    },
  );

  it("restarts a member whose place is gone and whose process is still ending", async () => {
    const { ref, ctx, spawn: start } = await ledTeam();
    await start("dev");
    const pid = pidOf(ref);
    const outer = readPlace(ref, "dev")?.panePid ?? 0;
    const inner = processTable().find(({ ppid }) => ppid === outer)?.pid ?? 0;
    for (const script of [inner, outer]) signalProcess(script, "SIGKILL");
    await eventually("the end of its launch script", () => !runs(outer) && !runs(inner));
    const of = (type: string) => {
      const backend = ctx.backends.of(type);
      return backend && { ...backend, present: endsAt(backend.present) };
    };
    // The end of its terminal has not reached the agent yet when its place is checked.
    const endsAt =
      (present: Backend["present"]): Backend["present"] =>
      async (places) => {
        const seen = await present(places);
        signalProcess(pid, "SIGTERM");
        return seen;
      };
    expect(outcomesOf(await resume({ ...ctx, backends: { ...ctx.backends, of } }))).toEqual([
      "dev restarted",
    ]);
    expect(agentsOf(ref, "dev")).toEqual([pidOf(ref)]);
  });

  it("fails with NOT_LEAD when a teammate calls it", async () => {
    const { ref, ctx } = await ledTeam();
    await expect(resumeTeam(contextOf(ref, "dev", { env: ctx.env }))).rejects.toMatchObject({
      code: "NOT_LEAD",
    });
  });
});

describe("down", () => {
  it("ends every member and keeps it as exited; resume restarts them", async () => {
    const { ref, ctx, spawn: start } = await ledTeam({ dev: ECHO });
    await start({ name: "dev", prompt: "before" }, "ada");
    await done(ref, "dev", "before");
    await createTask(ref, { subject: "count" });
    await claimTask(ref, "dev", "1");
    const pids = [pidOf(ref), pidOf(ref, "ada")];
    expect(await downTeam(ctx, PATIENT)).toEqual(
      expect.arrayContaining(["dev", "ada"].map((name) => ({ name, outcome: "approved" }))),
    );
    expect(pids.map(runs)).toEqual([false, false]);
    expect(membersOf(ref)).toEqual([LEAD_NAME, "dev", "ada"]);
    expect(readTeam(ref).former ?? []).toEqual([]);
    const { members, tasks } = await teamStatus(ctx);
    expect(members.slice(1).map(({ state, alive }) => [state, alive])).toEqual([
      ["exited", false],
      ["exited", false],
    ]);
    expect(tasks).toMatchObject({ pending: 1, inProgress: 0 });
    expect((await leadNotices(ref)).sort()).toEqual([
      "ada is down until it is resumed.",
      "dev is down until it is resumed. Unassigned tasks: #1 count.",
    ]);

    expect(outcomesOf(await resume(ctx))).toEqual(["dev restarted", "ada restarted"]);
    await idle(ref);
    expect(runs(pidOf(ref))).toBe(true);
    // From now on an agreed shutdown removes the member again.
    expect(await shutdownTeammates(ctx, ["dev"], PATIENT)).toEqual([{ name: "dev", outcome: "approved" }]);
    expect(membersOf(ref)).toEqual([LEAD_NAME, "ada"]);
  });

  it("keeps a member that refuses, and does not ask members while the lead is alive", async () => {
    const { ref, ctx, spawn: start } = await ledTeam({ dev: REFUSES });
    await start("dev", "ada");
    await updateTeam(ref, (config) => ({ ...config, leadProcess: { ...ownIdentity(), claimedAt: 1 } }));
    await expect(downTeam(ctx)).rejects.toMatchObject({ code: "ACTIVE_MEMBERS" });
    expect(await history(ref, "dev")).toEqual([]);
    await updateTeam(ref, ({ leadProcess: _gone, ...rest }) => rest as ReturnType<typeof readTeam>);
    const reports = await downTeam(ctx, PATIENT);
    expect(reports.find(({ name }) => name === "ada")).toEqual({ name: "ada", outcome: "approved" });
    expect(reports.find(({ name }) => name === "dev")).toEqual({
      name: "dev",
      outcome: "rejected",
      reason: "not done",
    });
    expect(runs(pidOf(ref))).toBe(true);
    expect(membersOf(ref)).toEqual([LEAD_NAME, "dev", "ada"]);
    // A shutdown that dev agrees to later does not answer this request.
    expect(readTeam(ref).members.map(keepsOnExit)).toEqual([false, false, true]);
  });

  it("does not end a restarted member that had not read the request", async () => {
    const { ref, ctx, spawn: start } = await ledTeam();
    await start("dev");
    signalProcess(pidOf(ref), "SIGSTOP");
    expect(await downTeam(ctx, { timeoutMs: 200 })).toEqual([{ name: "dev", outcome: "timed-out" }]);
    await killAgent(ref);
    expect(unreadCount(ref, "dev")).toBe(1);
    expect(outcomesOf(await resume(ctx))).toEqual(["dev restarted"]);
    await idle(ref);
    expect(unreadCount(ref, "dev")).toBe(0);
    expect(runs(pidOf(ref))).toBe(true);
  });

  it("keeps a member in the team if it agrees only after the timeout", async () => {
    const { ref, ctx, spawn: start } = await ledTeam();
    await start("dev");
    const pid = pidOf(ref);
    signalProcess(pid, "SIGSTOP");
    expect(await downTeam(ctx, { timeoutMs: 200 })).toEqual([{ name: "dev", outcome: "timed-out" }]);
    signalProcess(pid, "SIGCONT");
    await eventually("dev's end", () => !runs(pid));
    expect(outcomesOf(await resume(ctx))).toEqual(["dev restarted"]);
    // The next request is a shutdown, which removes the member.
    await requestShutdown(ctx, ["dev"]);
    await eventually("dev's end", () => !runs(pidOf(ref)));
    expect((await resume(ctx)).members).toEqual([]);
  });
});

function rewrite(file: string, change: (record: Record<string, Record<string, unknown>>) => object): void {
  writeFileSync(`${file}.new`, JSON.stringify(change(JSON.parse(readFileSync(file, "utf8")))));
  renameSync(`${file}.new`, file);
}

function argvOf(pid: number): string {
  return execFileSync("ps", ["-wwo", "args=", "-p", `${pid}`], { encoding: "utf8" });
}
