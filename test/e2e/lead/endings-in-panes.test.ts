import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { killTeammates } from "../../../src/operations/ending/kill.ts";
import { shutdownTeammates } from "../../../src/operations/ending/shutdown.ts";
import type { SpawnInput } from "../../../src/operations/spawn/draft-member.ts";
import { spawnTeammates } from "../../../src/operations/spawn/spawn.ts";
import { teamStatus } from "../../../src/operations/status.ts";
import { reconcile } from "../../../src/operations/supervision/reconcile.ts";
import { supervise } from "../../../src/operations/supervision/supervise.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { hasEnvEntry, processTable, signalProcess } from "../../../src/os/process/process-table.ts";
import { formatProtocol } from "../../../src/protocol/messages.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { livenessOfAgent, readExit, readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import { claimTask } from "../../../src/team/tasks/claim-task.ts";
import { hasLeaseExpired } from "../../../src/team/tasks/lease.ts";
import { createTask, getTask } from "../../../src/team/tasks/tasks.ts";
import { leaves, leftoversOf, nothing } from "../../support/assertions/leftovers.ts";
import { failingRenames } from "../../support/files/failing-renames.ts";
import { makeDue } from "../../support/team/due-endings.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { leadNotices } from "../../support/team/lead-notices.ts";
import { type LedTeam, ledTeam } from "../../support/team/led-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { confirmsCtrlC, userAt } from "../../support/tmux/terminal-user.ts";

/** Milliseconds, more than a test may take. */
const NEVER_MS = 3_600_000;

async function spawnInPanes({ ctx }: LedTeam, inputs: readonly SpawnInput[]): Promise<void> {
  const background: Promise<unknown>[] = [];
  await spawnTeammates(ctx, inputs, { mode: "tmux", background: (work) => background.push(work) });
  await Promise.all(background);
}

/** Creates a team led by this test, with its teammate in a pane of a detached session. */
async function inPanes(agents: Readonly<Record<string, readonly PlaybookTurn[]>>, input: SpawnInput) {
  const led = await ledTeam(agents);
  const { ref, ctx, place } = led;
  await spawnInPanes(led, [input]);
  const paneOf = (name: string): string => readPlace(ref, name)?.paneId ?? "";
  const screen = (name: string): string => place.tmux("capture-pane", "-p", "-t", paneOf(name));
  return {
    ref,
    ctx,
    t: place,
    paneOf,
    screen,
    pidOf: (name: string): number => readStatus(ref, name)?.process.pid ?? 0,
    /** Ends the agent's process, and waits until its pane asks for a key. */
    crash: async (name: string, signal: NodeJS.Signals) => {
      const { pid } = readStatus(ref, name)?.process ?? { pid: 0 };
      signalProcess(pid, signal);
      await eventually("the record", () => readExit(ref, name)?.signal === signal);
      await eventually("the key hint", () => screen(name).includes("q + Enter closes this pane"));
    },
    /** Types the restart key in the pane, as a user does. */
    restart: async (name: string) => {
      const before = readStatus(ref, name)?.process.pid;
      place.tmux("send-keys", "-t", paneOf(name), "r", "Enter");
      await eventually("the restart", () => readStatus(ref, name)?.process.pid !== before);
      await eventually(`${name} to be idle`, () => isAtRest(ref, name));
    },
    notices: () => leadNotices(ref),
  };
}

describe("a crashed agent that a user restarted in its pane", () => {
  it("is reported to the lead and gets its tasks back, even if a check ran before the restart", async () => {
    const { ref, ctx, crash, restart, notices, screen } = await inPanes({}, { name: "dev" });
    await createTask(ref, { subject: "count" });
    await claimTask(ref, "dev", "1");
    // The agent is ready before it prints anything; without output, the report has no last lines.
    await eventually("dev's header", () => screen("dev").includes("team crew"));
    await crash("dev", "SIGSEGV");
    await restart("dev");
    const three = [{ ...ctx }, { ...ctx }, { ...ctx }];
    const ends = (await Promise.all(three.map((own) => reconcile(own)))).flat();
    expect(ends).toMatchObject([{ name: "dev", how: "restarted", exit: { signal: "SIGSEGV" } }]);
    expect(await notices()).toEqual([
      expect.stringMatching(/^dev crashed \(SIGSEGV\) and was restarted in its pane\.\nIts last lines:\n/),
    ]);
    expect(getTask(ref, "1")).toMatchObject({ owner: "dev", status: "in_progress" });
    expect(hasLeaseExpired(getTask(ref, "1"))).toBe(false);

    await crash("dev", "SIGABRT");
    expect(await reconcile(ctx)).toMatchObject([{ how: "crashed", exit: { signal: "SIGABRT" } }]);
    expect(getTask(ref, "1")).toMatchObject({ status: "pending" });
    expect(getTask(ref, "1").owner).toBeUndefined();
    // The shutdown request was meant for the crashed process: the restarted one must ignore it.
    const request = { type: "shutdown_request", requestId: "shutdown-1@dev", from: LEAD_NAME } as const;
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: formatProtocol(request, new Date()) });
    await restart("dev");
    expect(getTask(ref, "1")).toMatchObject({ owner: "dev", status: "pending" });
    await eventually("the note", () => screen("dev").includes("its tasks were restored: #1"));
    const received = await eventually("the assignment", async () => {
      const all = await history(ref, "dev", { all: true });
      return all.some(({ text, state }) => text.includes("task_assignment") && state === "done") && all;
    });
    expect(received.find(({ text }) => text.includes("shutdown_request"))?.state).toBe("done");
    expect(livenessOfAgent(ref, "dev")).toBe("alive");
    expect(await reconcile(ctx)).toEqual([]);
    expect(await notices()).toHaveLength(2);

    // An end that the user asked for is not a crash.
    await crash("dev", "SIGINT");
    await restart("dev");
    expect(await reconcile(ctx)).toMatchObject([{ how: "restarted", exit: { signal: "SIGINT" } }]);
    expect((await notices())[2]).toMatch(/^dev ended \(SIGINT\) and was restarted in its pane\./);
  });
});

describe("a restart in the pane", () => {
  it("restores the tasks before the crash is fully processed; the later retry does not change them", async () => {
    const { ref, ctx, crash, restart, notices, screen } = await inPanes({}, { name: "dev" });
    await createTask(ref, { subject: "count" });
    await claimTask(ref, "dev", "1");
    const inbox = ref.paths.inbox(LEAD_NAME);
    const restore = failingRenames((_from, to) => to === inbox);
    await crash("dev", "SIGABRT");
    await expect(reconcile(ctx)).rejects.toThrow(inbox);
    expect(getTask(ref, "1").owner).toBeUndefined();
    await restart("dev");
    await eventually("the note", () => screen("dev").includes("its tasks were restored: #1"));
    expect(getTask(ref, "1")).toMatchObject({ owner: "dev", status: "pending" });
    restore();
    await makeDue(ref);
    expect(await reconcile(ctx)).toMatchObject([{ how: "restarted", exit: { signal: "SIGABRT" } }]);
    expect(await notices()).toEqual([expect.stringMatching(/^dev crashed \(SIGABRT\)\./)]);
    expect(getTask(ref, "1")).toMatchObject({ owner: "dev", status: "pending" });
    expect(readTeam(ref).members[1]?.metadata).not.toHaveProperty("_held");
  });
});

describe("an agent in a pane", () => {
  it("is reported as crashed after SIGKILL without a slow check, and its tasks are unassigned (S33)", async () => {
    const { ref, ctx, pidOf, notices } = await inPanes({}, { name: "dev" });
    await createTask(ref, { subject: "count" });
    await claimTask(ref, "dev", "1");
    const watching = new AbortController();
    const problems: string[] = [];
    let checks = 0;
    const watch = supervise(ctx, {
      signal: watching.signal,
      slowCheckMs: NEVER_MS,
      onEnd: () => undefined,
      onChange: () => {
        checks += 1;
      },
      onProblem: (problem) => problems.push(problem),
    });
    onTestFinished(async () => {
      watching.abort();
      await watch;
    });
    // After the first check, only a bell can report the end: the slow check never runs here.
    await eventually("the first check", () => checks > 0);
    signalProcess(pidOf("dev"), "SIGKILL");
    const [notice] = await eventually(
      "the notification",
      async () => (await notices()).length > 0 && notices(),
    );
    expect(notice).toMatch(/^dev crashed \(SIGKILL\)\. Unassigned tasks: #1 count\./);
    const { members, tasks } = await teamStatus(ctx);
    expect(members[1]).toMatchObject({
      state: "crashed",
      alive: false,
      exit: { signal: "SIGKILL", code: null },
    });
    expect(tasks.list).toMatchObject([{ id: "1", status: "pending" }]);
    expect(problems).toEqual([]);
  });

  it("is recorded as ended by SIGTERM when its terminal closes meanwhile (S40)", async () => {
    const stays = "trap '' HUP; trap ': > asked' TERM; : > busy; while :; do sleep 0.1; done";
    const { ref, t, pidOf } = await inPanes(
      { dev: [{ tools: [{ name: "Bash", input: { command: stays } }] }] },
      { name: "dev", prompt: "begin" },
    );
    await eventually("dev's command", () => existsSync(join(t.home, "busy")));
    signalProcess(pidOf("dev"), "SIGTERM");
    // The agent has received the first SIGTERM before the next one is sent.
    await eventually("the end of its command", () => existsSync(join(t.home, "asked")));
    signalProcess(readPlace(ref, "dev")?.panePid ?? 0, "SIGTERM");
    expect(await eventually("the record", () => readExit(ref, "dev"))).toMatchObject({ signal: "SIGTERM" });
  });

  it("is shown as exited in status, notification and border after Ctrl-C; its pane names the keys", async () => {
    const { ref, ctx, t, paneOf, screen, notices } = await inPanes(
      { dev: [{ tools: [{ name: "Bash", input: { command: "touch busy; sleep 300" } }] }] },
      { name: "dev", prompt: "begin" },
    );
    await eventually("dev's command", () => existsSync(join(t.home, "busy")));
    // A Ctrl-C that discards typed text does nothing else; the next one warns.
    t.tmux("send-keys", "-t", paneOf("dev"), "half a line");
    await eventually("the typed text", () => screen("dev").includes("half a line"));
    t.tmux("send-keys", "-t", paneOf("dev"), "C-c");
    await eventually("an empty line", () => !screen("dev").includes("half a line"));
    expect(screen("dev")).not.toContain("Ctrl-C once more");
    t.tmux("send-keys", "-t", paneOf("dev"), "C-c");
    await eventually("a warning", () => screen("dev").includes("Ctrl-C once more ends this agent"));
    expect(livenessOfAgent(ref, "dev")).toBe("alive");
    expect(screen("dev")).not.toContain("half a line");
    await confirmsCtrlC(userAt(t, paneOf("dev")), () => livenessOfAgent(ref, "dev") === "dead");
    await eventually("the key hint", () => screen("dev").includes("q + Enter closes this pane"));
    await reconcile(ctx);
    expect((await teamStatus(ctx)).members[1]).toMatchObject({ state: "exited", exit: { signal: "SIGINT" } });
    expect(await notices()).toEqual([expect.stringMatching(/^dev ended \(SIGINT\)\./)]);
    expect(readExit(ref, "dev")?.signal).toBe("SIGINT");
    expect(t.tmux("show-options", "-p", "-v", "-t", paneOf("dev"), "@teams_state")).toBe("exited");
  });

  it("exits with its terminal, without an exit record, when its inner script is killed", async () => {
    const { ref, ctx, pidOf } = await inPanes({}, { name: "dev" });
    const [pid, outer] = [pidOf("dev"), readPlace(ref, "dev")?.panePid];
    const inner = processTable().find((row) => row.ppid === outer)?.pid ?? 0;
    signalProcess(inner, "SIGKILL");
    await eventually("dev's end", () => startTimeOf(pid) === undefined);
    expect((await teamStatus(ctx)).members[1]).toMatchObject({ state: "exited", alive: false, exit: null });
  });

  it("is reported with its signal and its last fifty lines when it ends during a turn (S34)", async () => {
    const lines = Array.from({ length: 80 }, (_, i) => `line ${i}`);
    const crash = { name: "Bash", input: { command: "kill -SEGV $PPID; sleep 300" } };
    const { ref, ctx, notices } = await inPanes(
      { dev: [{ say: lines.join("\n"), tools: [crash] }] },
      { name: "dev", prompt: "begin" },
    );
    await eventually("the record", () => readExit(ref, "dev"));
    await reconcile(ctx);
    const [notice = ""] = await notices();
    expect(notice).toMatch(/^dev crashed \(SIGSEGV\)\./);
    expect(notice).toContain("line 79\n");
    expect(notice).not.toContain("line 20\n");
    expect(readExit(ref, "dev")?.lastLines).toHaveLength(50);
  });

  it("is reported with exit code and reason when its first turn cannot begin (S34)", async () => {
    const { ref, ctx, notices } = await inPanes(
      {},
      { name: "dev", prompt: "begin", model: "scripted:nowhere.json" },
    );
    await eventually("the record", () => readExit(ref, "dev"));
    await reconcile(ctx);
    expect((await notices())[0]).toMatch(/^dev crashed \(exit code 2\)\.\n[\s\S]*nowhere\.json/);
  });

  it("is killed after the timeout with every process that it started, when it ignores SIGTERM (S40)", async () => {
    const scatter = [
      "setsid sh -c 'trap \"\" HUP TERM; while :; do sleep 1; done' &",
      "(setsid sh -c '(sleep 1001 &)' &)",
      "nohup sleep 1002 >/dev/null 2>&1 &",
      'ln -s "$(command -v sleep)" other; (setsid ./other 1003 &)',
      "touch scattered; sleep 300",
    ].join("\n");
    const { ref, ctx, t, pidOf, paneOf } = await inPanes(
      { dev: [{ tools: [{ name: "Bash", input: { command: scatter } }] }] },
      { name: "dev", prompt: "begin" },
    );
    const instance = readPlace(ref, "dev")?.instance;
    const marked = () => processTable().filter(({ pid }) => hasEnvEntry(pid, `TEAMS_INSTANCE=${instance}`));
    await eventually(
      "the scattered processes",
      () => existsSync(join(t.home, "scattered")) && marked().length >= 8,
    );
    const [pid, pane] = [pidOf("dev"), paneOf("dev")];
    // A stopped process handles no signal but SIGKILL.
    signalProcess(pid, "SIGSTOP");
    expect(await killTeammates(ctx, ["dev"], { timeoutMs: 200 })).toEqual([
      { name: "dev", outcome: "killed", left: [] },
    ]);
    expect(marked()).toEqual([]);
    expect(startTimeOf(pid)).toBeUndefined();
    expect(leftoversOf(t)).toMatchObject({ panes: [], processes: [] });
    expect(pane).not.toBe("");
  });
});

describe("fifty shutdowns", () => {
  it("leave no pane, process, FIFO, lock or launch script (S41)", async () => {
    const t = privateTmux();
    t.session();
    for (const team of ["one", "two", "three", "four", "five"]) {
      const led = await ledTeam({}, team, t);
      const names = Array.from({ length: 10 }, (_, i) => `dev-${i}`);
      const inputs = names.map((name) => ({ name }));
      await (team === "five" ? led.spawn(...inputs) : spawnInPanes(led, inputs));
      const reports = await shutdownTeammates(led.ctx, names, { timeoutMs: 180_000 });
      expect(reports.map(({ outcome }) => outcome)).toEqual(names.map(() => "approved"));
    }
    const teams = ["teams", "tasks"].flatMap((kind) =>
      readdirSync(join(t.root, kind)).map((name) => join(t.root, kind, name)),
    );
    await leaves(t, { ...nothing(["work:cat"]), teams });
    const files = readdirSync(t.root, { recursive: true, encoding: "utf8" });
    expect(files.filter((name) => /launch\.sh|\/run\/./.test(name))).toEqual([]);
    for (const team of ["one", "two", "three", "four", "five"]) {
      expect(readFileSync(join(t.root, "teams", team, "config.json"), "utf8")).not.toContain("_endings");
    }
  });
});
