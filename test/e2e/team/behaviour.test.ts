import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answerApproval, listApprovals } from "../../../src/operations/approvals/approvals.ts";
import { killTeammates } from "../../../src/operations/ending/kill.ts";
import { shutdownTeammates } from "../../../src/operations/ending/shutdown.ts";
import { interruptAgent } from "../../../src/operations/interrupt.ts";
import { teamStatus } from "../../../src/operations/status.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { listTasks } from "../../../src/team/tasks/tasks.ts";
import { addTask } from "../../../src/team/tasks/update-task.ts";
import { markedProcesses } from "../../support/assertions/leftovers.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { PLACES, supervisedTeam } from "../../support/team/supervised-team.ts";
import { eventually } from "../../support/timing/eventually.ts";

const bash = (command: string): PlaybookTurn => ({ tools: [{ name: "Bash", input: { command } }] });
const tells = (recipient: string, content: string): PlaybookTurn => ({
  tools: [{ name: "SendMessage", input: { type: "message", recipient, content, summary: "says it" } }],
});
const writes = (path: string, content: string): PlaybookTurn => ({
  tools: [{ name: "Write", input: { file_path: path, content } }],
});
/** A long command that only SIGKILL ends. */
const STUBBORN = "trap '' TERM HUP; touch working; while :; do sleep 1; done";

describe.each(PLACES)("teammates in %s", (place) => {
  it("have their own directory, identity and process marker", async () => {
    const team = await supervisedTeam(place, {
      "*": [
        bash(
          'pwd > "$TEAMS_HOME/$TEAMS_AGENT.pwd"; echo "$TEAMS_INSTANCE" >> "$TEAMS_HOME/$TEAMS_AGENT.pwd"',
        ),
      ],
    });
    const { t } = team;
    for (const name of ["ann", "bob"]) mkdirSync(join(t.home, name));
    await team.spawn(...["ann", "bob"].map((name) => ({ name, cwd: name, prompt: "Begin." })));
    const outputOf = (name: string) => join(t.root, `${name}@crew.pwd`);
    await eventually("both files", () => ["ann", "bob"].every((name) => existsSync(outputOf(name))));
    await team.idle("ann", "bob");
    for (const name of ["ann", "bob"]) {
      const instance = readStatus(team.ref, name)?.instance;
      expect(readFileSync(outputOf(name), "utf8")).toBe(`${join(t.home, name)}\n${instance}\n`);
    }
  });

  it("exchange messages with each other and the lead, which reads only summaries", async () => {
    const team = await supervisedTeam(place, {
      ann: [tells("bob", "the secret word is swordfish"), { say: "I told bob." }],
      bob: [{ on: { contains: "swordfish" }, ...tells(LEAD_NAME, "bob knows it") }],
    });
    await team.spawn("ann", "bob");
    await team.send("ann", "Tell bob.");
    const [first, second] = await eventually("two messages and two notices", async () => {
      const all = await team.inbox();
      return all.filter((text) => text.includes("idle_notification")).length === 2 && all;
    });
    expect([first, second].filter((text) => text === "bob knows it")).toHaveLength(1);
    const notices = (await team.inbox()).filter((text) => text.includes("idle_notification"));
    expect(notices.some((text) => text.includes("[to bob] says it"))).toBe(true);
    expect((await team.inbox()).join()).not.toContain("swordfish");
  });

  it("handle each message once when messages arrive around the change to idle (S22)", async () => {
    const team = await supervisedTeam(place, { bob: [{ say: "Heard.", repeat: true }] });
    await team.spawn("bob");
    const sent = Array.from({ length: 100 }, (_, i) => `message ${i} ends`);
    for (const text of sent) await team.send("bob", text);
    await eventually("all messages", () => {
      const all = transcriptOf(team.ref, "bob");
      return sent.every((text) => all.includes(text));
    });
    await team.idle("bob");
    // The text as a turn reads it: the summary repeats the message in the same line.
    const read = transcriptOf(team.ref, "bob").matchAll(/\\n(message \d+ ends)\\n/g);
    expect([...read].map(([, text]) => text)).toEqual(sent);
  });

  it("act on a plan only after approval; a rejection continues the planning (S64)", async () => {
    const write = (content: string): PlaybookTurn => writes("{{plan_file}}", content);
    const submit: PlaybookTurn = { tools: [{ name: "ExitPlanMode", input: {} }] };
    const team = await supervisedTeam(place, {
      bob: [write("First, touch done."), submit, write("Better: touch done."), submit, bash("touch done")],
    });
    await team.spawn({ name: "bob", plan: true, prompt: "Plan it." });
    const first = await eventually("a plan", () => listApprovals(team.ref)[0]);
    await eventually("bob's state", () => readStatus(team.ref, "bob")?.state === "awaiting-approval");
    await answerApproval(team.ctx, first.id, { approve: false, note: "Think again." });
    const second = await eventually("another plan", () =>
      listApprovals(team.ref).find(({ id }) => id !== first.id),
    );
    expect(existsSync(join(team.t.home, "done"))).toBe(false);
    await answerApproval(team.ctx, second.id, { approve: true });
    await eventually("the work", () => existsSync(join(team.t.home, "done")));
  });

  it("ask for permission, and continue with the answer (S61)", async () => {
    const team = await supervisedTeam(
      place,
      { bob: [bash("touch made"), bash("touch unwanted"), { say: "So be it." }] },
      { mode: "default" },
    );
    await team.spawn({ name: "bob", prompt: "Begin." });
    for (const [approve, file] of [
      [true, "made"],
      [false, "unwanted"],
    ] as const) {
      const asked = await eventually("the question", () => listApprovals(team.ref)[0]);
      expect(asked).toMatchObject({ kind: "permission", from: "bob", summary: `Bash(touch ${file})` });
      await eventually("bob's state", () => readStatus(team.ref, "bob")?.state === "needs-input");
      await answerApproval(team.ctx, asked.id, { approve });
    }
    await team.idle("bob");
    expect(["made", "unwanted"].map((file) => existsSync(join(team.t.home, file)))).toEqual([true, false]);
  });

  it("ask before they edit a file that the running task of another has reserved, and name its owner", async () => {
    const start = { taskId: "1", owner: "ann", status: "in_progress" };
    const team = await supervisedTeam(
      place,
      {
        ann: [{ tools: [{ name: "TaskUpdate", input: start }] }, { say: "I rewrite it." }],
        bob: [writes("src/lexer.ts", "of bob\n"), { say: "I have written it." }],
      },
      { mode: "acceptEdits" },
    );
    await addTask(team.ref, LEAD_NAME, { subject: "Rewrite the lexer", touches: ["src/**"] });
    await team.spawn("ann", "bob");
    await team.send("ann", "Begin.");
    await eventually("ann's task", () => listTasks(team.ref)[0]?.status === "in_progress");
    await team.send("bob", "Begin.");
    const asked = await eventually("the question", () => listApprovals(team.ref)[0]);
    expect(asked).toMatchObject({
      kind: "permission",
      from: "bob",
      reason: expect.stringContaining("src/lexer.ts is reserved (src/**) by task #1 of ann"),
    });
    const file = join(team.t.home, "src/lexer.ts");
    expect(existsSync(file)).toBe(false);
    await answerApproval(team.ctx, asked.id, { approve: true });
    await eventually("the edit", () => existsSync(file));
    await team.idle("bob");
  });

  it("edit a file that no task has reserved unasked, and are both notified if they edit the same file", async () => {
    const read: PlaybookTurn = { tools: [{ name: "Read", input: { file_path: "notes.md" } }] };
    const team = await supervisedTeam(
      place,
      {
        ann: [writes("notes.md", "of ann\n"), { say: "I have written it." }],
        bob: [read, writes("notes.md", "of bob\n"), { say: "I have changed it." }],
      },
      { mode: "acceptEdits" },
    );
    await team.spawn("ann", "bob");
    const noticesTo = async (name: string): Promise<readonly string[]> =>
      (await team.inbox(name)).filter((text) => text.includes("both edit"));
    await team.send("ann", "Begin.");
    await eventually("ann's edit", () => existsSync(join(team.t.home, "notes.md")));
    await team.idle("ann");
    expect(await noticesTo("ann")).toEqual([]);
    await team.send("bob", "Begin.");
    await eventually("both notices", async () =>
      (await Promise.all(["ann", "bob"].map(noticesTo))).every(({ length }) => length > 0),
    );
    const notice = (other: string) =>
      expect.stringMatching(`^You and ${other} both edit .*/notes\\.md, in the same directory`);
    expect(await noticesTo("ann")).toEqual([notice("bob")]);
    expect(await noticesTo("bob")).toEqual([notice("ann")]);
    expect(listApprovals(team.ref)).toEqual([]);
  });

  it("leave the team when they agree to a shutdown, and stay when they refuse", async () => {
    const refuse = {
      type: "shutdown_response",
      request_id: "{{request_id}}",
      approve: false,
      content: "I am not done.",
    };
    const team = await supervisedTeam(place, {
      ann: [{ say: "Idle." }],
      bob: [{ on: { contains: "shutdown" }, tools: [{ name: "SendMessage", input: refuse }] }],
    });
    await team.spawn("ann", "bob");
    expect(await shutdownTeammates(team.ctx, ["ann", "bob"], { timeoutMs: 180_000 })).toEqual(
      expect.arrayContaining([
        { name: "ann", outcome: "approved" },
        { name: "bob", outcome: "rejected", reason: "I am not done." },
      ]),
    );
    const { members, former } = readTeam(team.ref);
    expect(members.map(({ name }) => name)).toEqual([LEAD_NAME, "bob"]);
    expect(former).toMatchObject([{ name: "ann", how: "shutdown" }]);
    await eventually("the removal of ann's files", () => !existsSync(team.ref.paths.agent("ann").run));
    await eventually("the notification", async () =>
      (await team.inbox()).some((text) => text.includes("ann has shut down.")),
    );
  });

  it("are killed after the timeout with their child processes, and their tasks are unassigned (S40, S56)", async () => {
    const team = await supervisedTeam(place, { bob: [bash(STUBBORN)] });
    await team.spawn("bob");
    await addTask(team.ref, LEAD_NAME, { subject: "endless", description: "", owner: "bob" });
    await team.send("bob", "Begin.");
    await eventually("the work", () => existsSync(join(team.t.home, "working")));
    const sleeps = () => markedProcesses(team.t).filter(({ name }) => name.startsWith("sleep"));
    await eventually("bob's command", () => sleeps().length > 0);
    expect(await killTeammates(team.ctx, ["bob"], { timeoutMs: 300 })).toEqual([
      { name: "bob", outcome: "killed", left: [] },
    ]);
    expect(readTeam(team.ref).former).toMatchObject([{ name: "bob", how: "killed" }]);
    expect(sleeps()).toEqual([]);
    expect(listTasks(team.ref)).toMatchObject([{ status: "pending" }]);
    expect(listTasks(team.ref)[0]?.owner).toBeUndefined();
  });

  it("can be killed by a command in another process", async () => {
    const team = await supervisedTeam(place, { bob: [bash(STUBBORN)] });
    await team.spawn({ name: "bob", prompt: "Begin." });
    await eventually("the work", () => existsSync(join(team.t.home, "working")));
    const teams = teamsIn(team.ctx.env, team.t.home);
    const { code, json } = await teams(["kill", "bob", "--force", "--json"]);
    expect([code, json()]).toMatchObject([0, { kills: [{ name: "bob", outcome: "killed", left: [] }] }]);
    expect(markedProcesses(team.t).filter(({ name }) => name.startsWith("sleep"))).toEqual([]);
    expect(readTeam(team.ref).members.map(({ name }) => name)).toEqual([LEAD_NAME]);
    // The lead is notified only once, although it supervises as well.
    const notices = (await team.inbox()).filter((text) => text.includes("teammate_terminated"));
    expect(notices).toEqual([expect.stringContaining("bob was killed.")]);
  });

  it("crash alone: the lead gets the last lines, and the others continue (S34)", async () => {
    const team = await supervisedTeam(place, { ann: [{ say: "Still here.", repeat: true }] });
    await team.spawn("ann", { name: "bob", model: "scripted:no-such-play.json" });
    await team.send("bob", "Begin.");
    const notice = await eventually("the notification", async () =>
      (await team.inbox()).find((text) => text.includes("bob crashed")),
    );
    expect(notice).toContain("exit code");
    expect(notice).toContain("no-such-play.json");
    const { members } = await teamStatus(team.ctx);
    expect(members).toMatchObject([
      {},
      { name: "ann", alive: true },
      { name: "bob", state: "crashed", alive: false },
    ]);
    await team.send("ann", "And you?");
    await eventually("ann's answer", () => transcriptOf(team.ref, "ann").includes("Still here."));
  });

  it("can be interrupted during a command, and handle the next message", async () => {
    const team = await supervisedTeam(place, {
      bob: [
        bash("touch working; sleep 300"),
        { on: { contains: "again" }, ...tells(LEAD_NAME, "here I am") },
      ],
    });
    await team.spawn({ name: "bob", prompt: "Begin." });
    await eventually("the work", () => existsSync(join(team.t.home, "working")));
    await interruptAgent(team.ctx, "bob");
    await team.idle("bob");
    await team.send("bob", "Once again.");
    await eventually("the answer", async () => (await team.inbox()).includes("here I am"));
  });
});

function transcriptOf(ref: Parameters<typeof readStatus>[0], name: string): string {
  const file = readStatus(ref, name)?.transcript ?? "";
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
