import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
import { removeTeamFiles } from "../../../../src/team/config/delete-files.ts";
import { markAsRead, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { patchMember } from "../../../../src/team/members/members.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { type TeamRef, teamRef } from "../../../../src/team/ref.ts";
import { changeTask, findTask, lockTasks } from "../../../../src/team/tasks/tasks.ts";
import { Acknowledged, type Operation } from "../../../support/kill/acknowledged-changes.ts";
import { Killable } from "../../../support/kill/killable-process.ts";
import { script } from "../../../support/processes/script-process.ts";
import { IS_FULL } from "../../../support/random/extent.ts";
import { SEED } from "../../../support/random/seed.ts";
import { seeded } from "../../../support/random/seeded-random.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { CLOCK_BEHIND, clockBehind } from "../../../support/timing/clock-behind.ts";

const operations = script("team/random-operations", CLOCK_BEHIND);

/** Number of processes killed, over as many concurrent teams as keep the machine busy. */
const KILLS = IS_FULL ? 500 : 80;
const TEAMS = 4;
/** Maximum operations that a process begins before it is killed. */
const MAX_OPERATIONS = 8;
/** Maximum pause in milliseconds between the last operation and the kill. */
const MAX_PAUSE_MS = 5;

test(`crash safety › keeps every acknowledged change through ${KILLS} kills at random moments, and the next process works at once (S21, S26)`, async () => {
  clockBehind();
  const teams = await Promise.all(
    Array.from({ length: TEAMS }, (_, i) => killIn(SEED * TEAMS + i, KILLS / TEAMS)),
  );
  const inside = teams.reduce((sum, count) => sum + count, 0);
  // Most kills hit an operation, not the pause between two.
  expect(inside).toBeGreaterThan(KILLS / 2);
});

/**
 * Kills one of two concurrent workers of one team at a time. @returns the number of kills during an operation
 */
async function killIn(seed: number, kills: number): Promise<number> {
  const ref = await testTeam(["w0", "w1", "idle"]);
  for (const name of ["w0", "w1", "idle"]) writeStatus(ref, name, statusOf());
  const random = seeded(seed);
  const truth = new Acknowledged(ref);
  let count = 0;
  const start = (actor: string): Killable => {
    count += 1;
    return new Killable(operations(ref.home.root, ref.team, actor, `${seed * 1_000 + count}`));
  };
  const pairs = ["w0", "w1"].map((actor) => ({ actor, now: start(actor), next: start(actor) }));
  let inside = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    for (const { now } of pairs) await now.paused();
    const [victim, other] = random() < 0.5 ? pairs : pairs.toReversed();
    if (victim === undefined || other === undefined) throw new Error("There are not two workers.");
    const begun = victim.now.begins(1 + Math.floor(random() * MAX_OPERATIONS));
    for (const { now } of pairs) now.go();
    await begun;
    await new Promise((resolve) => setTimeout(resolve, random() * MAX_PAUSE_MS));
    await victim.now.kill();
    await other.now.pause();
    truth.record([...victim.now.takeReports(), ...other.now.takeReports()]);
    const operation = truth.ended(victim.actor);
    truth.check();
    if (operation !== undefined) {
      inside += 1;
      await finish(ref, truth, operation);
    }
    await touchAll(ref, truth, kill);
    victim.now = victim.next;
    victim.next = start(victim.actor);
  }
  truth.check();
  // At most one temporary file for each kill.
  expect(truth.leftovers().length).toBeLessThanOrEqual(inside);
  return inside;
}

/** Finishes a half-done operation of a killed process. */
async function finish(ref: TeamRef, truth: Acknowledged, operation: Operation): Promise<void> {
  if ("id" in operation && operation.id !== undefined && findTask(ref, operation.id) !== undefined) {
    await changeTask(ref, operation.id, () => undefined);
  }
  if (operation.does !== "make team" && operation.does !== "remove team") return;
  const { name } = operation;
  const made = teamRef(ref.home, name);
  if (!existsSync(made.paths.config)) {
    truth.begins({ does: "make team", name });
    await createTeamFiles(ref.home, { name, leadSessionId: "s", leadCwd: "/", now: 1 });
  }
  truth.begins({ does: "remove team", name });
  await removeTeamFiles(made);
  truth.done({ does: "remove team", name });
}

/** Takes every lock that a killed process may have held. */
async function touchAll(ref: TeamRef, truth: Acknowledged, round: number): Promise<void> {
  for (const to of ["w0", "w1"]) {
    const text = `checker ${round * 2 + Number(to === "w1")}`;
    const sent: Operation = { does: "send", text, to };
    truth.begins(sent);
    await sendMessage(ref, { from: "checker", to, text });
    truth.done(sent);
  }
  await lockTasks(ref, () => undefined);
  const messages = await unreadMessages(ref, "team-lead");
  await markAsRead(
    ref,
    "team-lead",
    messages.map(({ key }) => key),
  );
  await patchMember(ref, "idle", { isActive: round % 2 === 0 });
}
