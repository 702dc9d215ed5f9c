import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type LandOptions, type LandReport, landWork } from "../../../../src/operations/landing/land.ts";
import { systemClock } from "../../../../src/os/clock.ts";
import { bootId, ownIdentity } from "../../../../src/os/process/identity.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { StatusRecord } from "../../../../src/schema/status.ts";
import { updateTeam } from "../../../../src/team/config/config.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { addMembers, changeMetadata, moveToFormer } from "../../../../src/team/members/members.ts";
import { writePlace } from "../../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { getTask } from "../../../../src/team/tasks/tasks.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import type { WorkerEvent } from "../../../../src/worker/states.ts";
import { createStatusKeeper, type StatusKeeper } from "../../../../src/worker/status-record.ts";
import { failingRenames } from "../../../support/files/failing-renames.ts";
import { git } from "../../../support/files/git.ts";
import { peerTakes } from "../../../support/team/foreign-peer.ts";
import { type LandingTeam, landingTeam, SHARED } from "../../../support/team/landing-team.ts";
import { statusOf } from "../../../support/team/status-records.ts";

function land(
  { ctx }: LandingTeam,
  agents: readonly string[],
  { verify, ...options }: Partial<LandOptions> & { readonly verify?: string } = {},
): Promise<readonly LandReport[]> {
  const gate = verify === undefined ? undefined : { command: verify, env: ctx.env };
  return landWork(ctx, agents, { gate, signal: new AbortController().signal, ...options });
}

const logOf = (directory: string, branch = "main"): string[] =>
  git(directory, "log", "--format=%s", branch).split("\n");

/** Reports events of an agent whose process is this test. */
function statusAfter(ref: TeamRef, ...events: readonly WorkerEvent[]): StatusKeeper {
  const { sessionId, transcript, process: own } = statusOf();
  const status = createStatusKeeper(
    ref,
    "dev",
    { sessionId, transcript, process: own },
    undefined,
    systemClock,
  );
  for (const event of ["ready", ...events] as const) status.report(event);
  return status;
}

/** Another container of this host that shares the home: same boot, other pids. */
const CONTAINER = { pidSpace: "container#pid:[1]", bootId: bootId() };

/** The status of an agent whose process is in another container. */
const inContainer = (fields: Partial<StatusRecord>): StatusRecord =>
  statusOf({ process: { ...ownIdentity(), ...CONTAINER }, ...fields });

async function textsTo(ref: TeamRef, agent: string): Promise<string[]> {
  return (await unreadMessages(ref, agent)).map(({ message }) => message.text);
}

/** Adds a task that its owner has completed. */
async function completedTask(ref: TeamRef, owner: string, subject = "work"): Promise<string> {
  const { id } = await addTask(ref, owner, { subject, owner });
  await updateTask(ref, owner, id, { status: "completed" });
  return id;
}

test("land › rebases, checks and fast-forwards the caller's checkout; untracked files stay", async () => {
  const team = await landingTeam(["dev"]);
  const { repository, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "a\n");
  commit(repository, "b.txt", "b\n");
  writeFileSync(join(repository, "note"), "mine\n");
  const [report] = await land(team, ["dev"], { verify: "test -f a.txt && test -f b.txt" });
  const head = git(repository, "rev-parse", "HEAD");
  expect(report).toMatchObject({
    ...{ agent: "dev", outcome: "landed", target: "main", commit: head, commits: 1, checkout: repository },
  });
  expect(logOf(repository)).toEqual(["Change a.txt", "Change b.txt", "Change shared.txt"]);
  expect(git(repository, "status", "--short")).toBe("?? note");
  expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("a\n");
  expect(git(worktree("dev"), "rev-parse", "HEAD")).toBe(head);
  // A changed checkout matters only if something is to land.
  writeFileSync(join(repository, "b.txt"), "mine\n");
  expect(await land(team, ["dev"])).toMatchObject([{ outcome: "nothing", commits: 0 }]);
});

test("land › moves only the branch when it is checked out nowhere", async () => {
  const team = await landingTeam(["dev"]);
  const { repository, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "a\n");
  git(repository, "switch", "--quiet", "--create", "mine");
  writeStatus(team.ref, "dev", statusOf({ state: "idle" }));
  expect(await land(team, [])).toMatchObject([{ outcome: "landed", checkout: null }]);
  expect([logOf(repository), logOf(repository, "mine")]).toEqual([
    ["Change a.txt", "Change shared.txt"],
    ["Change shared.txt"],
  ]);
  expect(git(repository, "status", "--short")).toBe("");
});

test("land › lands several agents in the given order, and continues after a conflict", async () => {
  const team = await landingTeam(["ann", "ben", "cid"]);
  const { ref, repository, worktree, commit } = team;
  commit(worktree("ann"), "shared.txt", SHARED.replace("two", "ann"));
  const before = commit(worktree("ben"), "shared.txt", SHARED.replace("two", "ben"));
  commit(worktree("cid"), "c.txt", "c\n");
  await completedTask(ref, "ben", "first");
  const task = await completedTask(ref, "ben", "last");
  const run = (): Promise<readonly LandReport[]> => land(team, ["cid", "ann", "ben"]);
  const [, , conflict] = await run();
  expect(logOf(repository).slice(0, 2)).toEqual(["Change shared.txt", "Change c.txt"]);
  expect(conflict).toMatchObject({ agent: "ben", outcome: "conflict", taskId: task, notified: true });
  expect(conflict?.reason).toContain("conflicts in shared.txt");
  expect(git(worktree("ben"), "rev-parse", "HEAD")).toBe(before);
  expect(git(worktree("ben"), "status", "--short", "--branch")).toBe("## teams/crew/ben");
  expect([getTask(ref, "1").status, getTask(ref, task)]).toMatchObject([
    "completed",
    { status: "in_progress", owner: "ben" },
  ]);
  expect((await run()).map(({ outcome }) => outcome)).toEqual(["nothing", "nothing", "conflict"]);
  const texts = await textsTo(ref, "ben");
  expect(texts).toEqual([expect.stringMatching(/conflicts in shared\.txt.*git rebase main.*Task #2/s)]);
  // A task that was completed again without a change is a reason for another notification.
  await updateTask(ref, "ben", task, { status: "completed" });
  await run();
  expect([(await textsTo(ref, "ben")).length, getTask(ref, task).status]).toEqual([2, "in_progress"]);
});

test("land › returns work with the end of the output when the check fails, and lands the fix", async () => {
  const team = await landingTeam(["dev"]);
  const { ref, repository, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "bad\n");
  commit(repository, "b.txt", "b\n");
  const task = await completedTask(ref, "dev");
  const verify = "pwd; seq 3000; printf '\\033[31mred\\n'; grep -q good a.txt";
  const [failed] = await land(team, ["dev"], { verify });
  expect(failed).toMatchObject({ outcome: "gate-failed", taskId: task, notified: true, commit: null });
  expect(failed?.output).toMatch(/3000\nred$/);
  expect(logOf(repository)).toEqual(["Change b.txt", "Change shared.txt"]);
  const [text = ""] = await textsTo(ref, "dev");
  expect(text).toContain("exit code 1");
  expect(text).toMatch(/\n2999\n3000\nred\n/);
  expect(text.length).toBeLessThan(3_000);
  commit(worktree("dev"), "a.txt", "good\n");
  expect(await land(team, ["dev"], { verify })).toMatchObject([{ outcome: "landed", commits: 2 }]);
});

test("land › returns work whose check failed when another task in progress touches the same files", async () => {
  const team = await landingTeam(["dev", "eve"]);
  const { ref, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "bad\n");
  const { id } = await addTask(ref, "dev", { subject: "work", owner: "dev", touches: ["src/**"] });
  await updateTask(ref, "dev", id, { status: "completed" });
  const other = await addTask(ref, "eve", { subject: "more", owner: "eve", touches: ["src/api/**"] });
  await updateTask(ref, "eve", other.id, { status: "in_progress" });
  const [failed] = await land(team, ["dev"], { verify: "echo red; false" });
  expect(failed).toMatchObject({ outcome: "gate-failed", taskId: id, notified: true, output: "red" });
  expect(getTask(ref, id)).toMatchObject({ status: "pending", owner: "dev" });
  expect(await textsTo(ref, "dev")).toEqual([expect.stringContaining("red")]);
});

test("land › says why the check failed when the agent leaves the team meanwhile, and frees its task", async () => {
  const team = await landingTeam(["dev"]);
  const { ref, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "a\n");
  const id = await completedTask(ref, "dev");
  const left = join(dirname(ref.home.root), "left");
  const leave = async (): Promise<void> => {
    try {
      await updateTeam(ref, (config) => moveToFormer(config, "dev", "shutdown", 5));
    } finally {
      // The check waits for this file, after a failure as well.
      writeFileSync(left, "");
    }
  };
  const onStep = (_agent: string, step: string): void => void (step === "checks" && leave());
  const verify = `until test -e '${left}'; do sleep 0.01; done; echo red; false`;
  expect(await land(team, ["dev"], { verify, onStep })).toMatchObject([
    { outcome: "gate-failed", taskId: id, notified: false, output: "red" },
  ]);
  expect(getTask(ref, id)).toMatchObject({ status: "pending" });
  expect(getTask(ref, id).owner).toBeUndefined();
});

test("land › says what landed before the disk was full", async () => {
  const team = await landingTeam(["dev", "eve"]);
  const { ref, repository, worktree, commit } = team;
  for (const name of ["dev", "eve"]) {
    commit(worktree(name), `${name}.txt`, "x\n");
    writeStatus(ref, name, statusOf({ state: "idle" }));
  }
  failingRenames((_from, to) => to.endsWith("/landings/eve.json"));
  await expect(land(team, [])).rejects.toMatchObject({
    code: "STORAGE_ERROR",
    message: expect.stringMatching(/ENOSPC.* Already landed: dev\.$/),
    details: { landed: ["dev"] },
  });
  expect(logOf(repository)).toEqual(["Change dev.txt", "Change shared.txt"]);
});

test("land › checks again on top of commits that came during the check", async () => {
  const team = await landingTeam(["dev"]);
  const { repository, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "a\n");
  const steps: string[] = [];
  const verify = `test -f b.txt || (cd '${repository}' && echo b > b.txt && git add b.txt && git commit -qm late)`;
  const reports = await land(team, ["dev"], { verify, onStep: (_, step) => steps.push(step) });
  expect(reports).toMatchObject([{ outcome: "landed", commits: 1 }]);
  expect(steps).toEqual(["checks", "rebases-again", "checks"]);
  expect(logOf(repository)).toEqual(["Change a.txt", "late", "Change shared.txt"]);
});

test("land › lands no change that the check has not seen", async () => {
  const team = await landingTeam(["dev", "eve"]);
  const { repository, worktree, commit } = team;
  for (const name of ["dev", "eve"]) commit(worktree(name), `${name}.txt`, "x\n");
  const [changed] = await land(team, ["dev"], { verify: "echo y >> dev.txt" });
  expect(changed).toMatchObject({
    outcome: "refused",
    reason: expect.stringContaining("files were changed"),
  });
  const [moved] = await land(team, ["eve"], { verify: "git commit -q --allow-empty -m more" });
  expect(moved).toMatchObject({ outcome: "refused", reason: expect.stringContaining("HEAD was moved") });
  expect(logOf(repository)).toEqual(["Change shared.txt"]);
});

test("land › does not touch a rebase that the agent started during the check", async () => {
  const team = await landingTeam(["dev"]);
  const { repository, worktree, commit } = team;
  const top = worktree("dev");
  commit(top, "shared.txt", SHARED.replace("two", "dev"));
  const late = `cd '${repository}' && printf 'one\\nlate\\nthree\\n' > shared.txt && git commit -qam late`;
  const verify = `(${late}) && ! git rebase --quiet main`;
  const [changed] = await land(team, ["dev"], { verify });
  expect(changed).toMatchObject({
    outcome: "refused",
    reason: expect.stringContaining("during its landing"),
  });
  const resolved = SHARED.replace("two", "dev and late");
  writeFileSync(join(top, "shared.txt"), resolved);
  const [again] = await land(team, ["dev"]);
  expect(again).toMatchObject({
    outcome: "refused",
    reason: expect.stringContaining("rebase is in progress"),
  });
  expect(readFileSync(join(top, "shared.txt"), "utf8")).toBe(resolved);
});

interface Refusal {
  readonly reason: string;
  readonly given: (team: LandingTeam) => unknown;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  "its worktree has an untracked file": {
    reason: "1 untracked file",
    given: ({ worktree }) => writeFileSync(join(worktree("dev"), "new"), "x"),
  },
  "its worktree has a changed file": {
    reason: "1 changed file",
    given: ({ worktree }) => writeFileSync(join(worktree("dev"), "shared.txt"), "x"),
  },
  ...Object.fromEntries(
    (["starting", "running", "throttled", "awaiting-approval", "stopping"] as const).map((state) => [
      `its agent is ${state}`,
      { reason: `at work (${state})`, given: ({ ref }) => writeStatus(ref, "dev", statusOf({ state })) },
    ]),
  ),
  "its agent asks for a permission in a turn": {
    reason: "at work (needs-input)",
    given: ({ ref }) => {
      statusAfter(ref, "turn_started").setOpenRequests(["Bash(make)"]);
    },
  },
  "its agent is paused in a turn": {
    reason: "at work (paused)",
    given: ({ ref }) => statusAfter(ref, "turn_started", "budget_spent"),
  },
  "its agent is in a turn in another container": {
    reason: "was at work (running) at its last report",
    given: ({ ref }) => writeStatus(ref, "dev", inContainer({ state: "running" })),
  },
  "its agent is paused in a turn in another container": {
    reason: "was at work (paused) at its last report",
    given: ({ ref }) => writeStatus(ref, "dev", inContainer({ state: "paused", resting: false })),
  },
  "its agent starts in another container": {
    reason: "was at work (starting) at its last report",
    given: ({ ref }) => {
      writeStatus(ref, "dev", inContainer({ state: "idle", instance: "first" }));
      const script = { panePid: process.pid, ...CONTAINER };
      writePlace(ref, "dev", { instance: "second", backend: "process", spawnedAt: 1, ...script });
    },
  },
  "its agent in another container has taken a message that its process has not reported": {
    reason: "was at work (running) at its last report",
    given: async ({ ref }) => {
      writeStatus(ref, "dev", inContainer({ state: "idle", ownInbox: true, newestTaken: 0 }));
      await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "more" });
      peerTakes(ref, "dev");
    },
  },
  "its agent has taken a message that its process has not reported": {
    reason: "at work (running)",
    given: async ({ ref }) => {
      writeStatus(ref, "dev", statusOf({ state: "idle", ownInbox: true, newestTaken: 0 }));
      await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "more" });
      peerTakes(ref, "dev");
    },
  },
  "a rebase is in progress in it": {
    reason: "rebase is in progress",
    given: ({ worktree, commit }) => {
      const top = worktree("dev");
      git(top, "branch", "other", "HEAD~1");
      git(top, "switch", "--quiet", "other");
      commit(top, "work.txt", "other\n");
      expect(() => git(top, "rebase", "teams/crew/dev")).toThrow("could not apply");
    },
  },
  "the caller's checkout has changes": {
    reason: "Your checkout of main has 1 changed file",
    given: ({ repository }) => writeFileSync(join(repository, "shared.txt"), "mine\n"),
  },
  "git would overwrite an untracked file of the caller": {
    reason: "would be overwritten",
    given: ({ repository }) => writeFileSync(join(repository, "work.txt"), "mine\n"),
  },
  "git would overwrite an ignored file of the caller": {
    reason: "would be overwritten",
    given: ({ repository }) => {
      writeFileSync(join(repository, ".git/info/exclude"), "work.txt\n");
      writeFileSync(join(repository, "work.txt"), "mine\n");
    },
  },
  "the branch is checked out in another worktree": {
    reason: "main is checked out in",
    given: ({ repository }) => {
      git(repository, "switch", "--quiet", "--create", "mine");
      git(repository, "worktree", "add", "--quiet", join(repository, ".worktrees", "x"), "main");
    },
  },
  "the branch is being rebased": {
    reason: "main is being rebased",
    given: ({ repository, commit }) => {
      git(repository, "switch", "--quiet", "--create", "mine");
      commit(repository, "shared.txt", "mine\n");
      git(repository, "switch", "--quiet", "main");
      commit(repository, "shared.txt", "other\n");
      expect(() => git(repository, "rebase", "mine")).toThrow("could not apply");
    },
  },
  "a command may have prepared what git runs": {
    reason: "may make git run programs",
    given: ({ repository, worktree }) => {
      git(repository, "config", "extensions.worktreeConfig", "true");
      git(worktree("dev"), "config", "--worktree", "merge.evil.driver", "touch ran");
    },
  },
  "its branch is gone": {
    reason: "no branch main",
    given: ({ repository }) => git(repository, "branch", "--quiet", "--move", "main", "trunk"),
  },
};

test.for(Object.entries(REFUSALS))(
  "land › refuses and changes nothing when %s",
  async ([, { reason, given }]) => {
    const team = await landingTeam(["dev"]);
    const { ref, repository, worktree, commit } = team;
    commit(worktree("dev"), "work.txt", "x\n");
    const task = await completedTask(ref, "dev");
    await given(team);
    const state = (): string[] =>
      [repository, worktree("dev")].flatMap((top) => [
        git(top, "for-each-ref", "--format=%(refname) %(objectname)"),
        git(top, "status", "--short", "--branch"),
      ]);
    const before = state();
    const [report] = await land(team, ["dev"]);
    expect(report).toMatchObject({
      outcome: "refused",
      reason: expect.stringContaining(reason),
      taskId: null,
    });
    expect(report?.hint).not.toBeNull();
    expect(state()).toEqual(before);
    expect(getTask(ref, task).status).toBe("completed");
  },
);

const RESTS: Readonly<Record<string, readonly WorkerEvent[]>> = {
  "is idle": ["turn_started", "turn_ended"],
  "waits for the answer to a question": ["turn_started", "turn_ended_asking"],
  "is paused between turns": ["turn_started", "turn_ended", "budget_spent"],
  "is paused after a question": ["turn_started", "turn_ended_asking", "budget_spent"],
};

test.for(Object.entries(RESTS))("land › lands the work of an agent that %s", async ([, events]) => {
  const team = await landingTeam(["dev"]);
  team.commit(team.worktree("dev"), "a.txt", "a\n");
  const status = statusAfter(team.ref, ...events);
  // Its background agent may ask meanwhile.
  status.setOpenRequests(events.length === 2 ? ["helper: Bash(make)"] : []);
  expect(await land(team, ["dev"])).toMatchObject([{ outcome: "landed" }]);
});

test.for(["idle", "exited"] as const)(
  "land › lands the work of an agent in another container that was %s at its last report",
  async (state) => {
    const team = await landingTeam(["dev"]);
    team.commit(team.worktree("dev"), "a.txt", "a\n");
    writeStatus(team.ref, "dev", inContainer({ state }));
    expect(await land(team, [])).toMatchObject([{ outcome: "landed" }]);
  },
);

test.for([
  ["here", statusOf],
  ["in another container", inContainer],
] as const)(
  "land › lands the work of a program %s whose turns are unseen only when the caller names it",
  async ([, status]) => {
    const team = await landingTeam(["dev", "eve"]);
    const { ref, repository, worktree, commit } = team;
    for (const name of ["dev", "eve"]) commit(worktree(name), `${name}.txt`, "x\n");
    writeStatus(ref, "dev", status({ state: "unknown" }));
    writeStatus(ref, "eve", statusOf({ state: "idle" }));
    expect(await land(team, [])).toMatchObject([
      {
        outcome: "refused",
        reason: "teams cannot see whether dev is in a turn (unknown).",
        hint: expect.stringContaining("teams land dev"),
      },
      { outcome: "landed" },
    ]);
    expect(logOf(repository)).toEqual(["Change eve.txt", "Change shared.txt"]);
    expect(await land(team, ["dev"])).toMatchObject([{ outcome: "landed" }]);
  },
);

test("land › lands the work of a typed program that is paused before a message only when the caller names it", async () => {
  const team = await landingTeam(["dev"]);
  const { ref, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "a\n");
  await changeMetadata(ref, "dev", { typed: true });
  const status = statusAfter(ref);
  status.hideTurnEnds();
  for (const event of ["turn_started", "turn_ended", "budget_spent"] as const) status.report(event);
  expect(await land(team, [])).toMatchObject([
    { outcome: "refused", reason: "teams cannot see whether dev is in a turn (paused)." },
  ]);
  expect(await land(team, ["dev"])).toMatchObject([{ outcome: "landed" }]);
});

test("land › refuses teammates, agents without a worktree and unknown names before it lands anything", async () => {
  const team = await landingTeam(["dev"]);
  const { ref, ctx, repository, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "a\n");
  await addMembers(ref, [{ name: "ann", cwd: repository }]);
  await expect(land({ ...team, ctx: { ...ctx, actor: "dev" } }, ["dev"])).rejects.toMatchObject({
    code: "NOT_LEAD",
  });
  await expect(land(team, ["dev", "ann"])).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(land(team, ["dev", "bob"])).rejects.toMatchObject({ code: "AGENT_NOT_FOUND" });
  expect(logOf(repository)).toEqual(["Change shared.txt"]);
});

test("land › runs no hook of the repository and opens no editor", async () => {
  const team = await landingTeam(["dev"]);
  const { repository, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "a\n");
  commit(repository, "b.txt", "b\n");
  const hooks = join(repository, ".git", "hooks");
  mkdirSync(hooks, { recursive: true });
  for (const name of ["pre-rebase", "post-merge", "post-checkout", "reference-transaction", "post-rewrite"])
    writeFileSync(join(hooks, name), `#!/bin/sh\ntouch '${repository}/ran-${name}'\n`, { mode: 0o755 });
  for (const key of ["core.editor", "sequence.editor"])
    git(repository, "config", key, `touch ${repository}/ran-editor; false`);
  expect(await land(team, ["dev"])).toMatchObject([{ outcome: "landed" }]);
  expect(git(repository, "status", "--short")).toBe("");
});

test("land › runs one landing at a time in a repository", async () => {
  const team = await landingTeam(["ann", "ben"]);
  const { ctx, repository, worktree, commit } = team;
  for (const name of ["ann", "ben"]) commit(worktree(name), `${name}.txt`, "x\n");
  const [busy, waiting] = ["busy", "waiting"].map((name) => join(dirname(ctx.home.root), name));
  // The first check lasts until the other landing waits; it fails if another check runs at the same time.
  const verify = `mkdir '${busy}' && until test -e '${waiting}'; do sleep 0.01; done; rmdir '${busy}'`;
  const steps: string[] = [];
  const onStep = (agent: string, step: string): void => {
    steps.push(`${agent} ${step}`);
    if (step === "waits") writeFileSync(waiting ?? "", "");
  };
  const both = await Promise.all(["ann", "ben"].map((name) => land(team, [name], { verify, onStep })));
  expect(both.flat().map(({ outcome }) => outcome)).toEqual(["landed", "landed"]);
  expect(steps.toSorted()).toEqual(["ann checks", "ben checks", "ben rebases", "ben waits"]);
  expect(logOf(repository)).toEqual(["Change ben.txt", "Change ann.txt", "Change shared.txt"]);
});

test("land › lands the kept worktree of an agent that left, and frees its task when that fails", async () => {
  const team = await landingTeam(["dev"]);
  const { ref, repository, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "a\n");
  const tasks = [await completedTask(ref, "dev"), await completedTask(ref, "dev")];
  await updateTeam(ref, (config) => moveToFormer(config, "dev", "shutdown", 5));
  for (let times = 0; times < 2; times += 1)
    expect(await land(team, ["dev"], { verify: "false" })).toMatchObject([
      { outcome: "gate-failed", taskId: tasks[1], notified: false, hint: expect.stringContaining("fix") },
    ]);
  expect(tasks.map((id) => getTask(ref, id).status)).toEqual(["completed", "pending"]);
  expect(getTask(ref, tasks[1] ?? "").owner).toBeUndefined();
  expect(await land(team, [])).toMatchObject([{ agent: "dev", outcome: "landed" }]);
  expect(logOf(repository)).toEqual(["Change a.txt", "Change shared.txt"]);
});

test("land › ends the check when it is interrupted, and can be repeated", async () => {
  const team = await landingTeam(["dev"]);
  const { repository, worktree, commit } = team;
  commit(worktree("dev"), "a.txt", "a\n");
  const stop = new AbortController();
  const started = land(team, ["dev"], {
    verify: "sleep 600",
    signal: stop.signal,
    onStep: () => stop.abort(),
  });
  await expect(started).rejects.toMatchObject({ code: "INTERRUPTED" });
  expect(logOf(repository)).toEqual(["Change shared.txt"]);
  expect(await land(team, ["dev"])).toMatchObject([{ outcome: "landed" }]);
});
