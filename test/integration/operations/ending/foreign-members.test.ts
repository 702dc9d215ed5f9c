import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { deleteTeam } from "../../../../src/operations/ending/delete-team.ts";
import { killTeammates } from "../../../../src/operations/ending/kill.ts";
import { UNPROVEN_EXIT_MS } from "../../../../src/operations/ending/remove-member.ts";
import { shutdownTeammates } from "../../../../src/operations/ending/shutdown.ts";
import { proveForeignMember } from "../../../../src/operations/processes/foreign-members.ts";
import { endRun } from "../../../../src/operations/run/end-run.ts";
import { reconcileAgreed } from "../../../../src/operations/supervision/agreed-shutdowns.ts";
import { reconcile } from "../../../../src/operations/supervision/reconcile.ts";
import { systemClock } from "../../../../src/os/clock.ts";
import { ownIdentity, startTimeOf } from "../../../../src/os/process/identity.ts";
import { signalProcess } from "../../../../src/os/process/process-table.ts";
import { readTeam, teamExists, updateTeam } from "../../../../src/team/config/config.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { findMember } from "../../../../src/team/members/members.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { createTask, getTask } from "../../../../src/team/tasks/tasks.ts";
import {
  contextOutsideTmux,
  type ForeignPeer,
  foreignPeer,
  IDLE,
  joinByHand,
  peerSays,
  teamInTmuxHome,
} from "../../../support/team/foreign-peer.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

async function setUp() {
  const t = privateTmux();
  t.session();
  const ref = await teamInTmuxHome(t);
  const ctx = contextOutsideTmux(t, ref);
  const names = (): string[] => readTeam(ref).members.map(({ name }) => name);
  const prove = () => proveForeignMember(ctx, readTeam(ref), findMember(readTeam(ref), "ada"));
  return { t, ref, ctx, names, prove };
}

const lives = ({ process }: ForeignPeer): boolean => startTimeOf(process.pid) === process.procStart;

/** Returns the id of the newest shutdown request in a member's inbox. */
async function requestOf(ref: TeamRef, name: string): Promise<string> {
  return eventually("the request", () => {
    try {
      const entries = JSON.parse(readFileSync(ref.paths.inbox(name), "utf8")) as { text: string }[];
      return /"requestId":"([^"]+)"/.exec(entries.at(-1)?.text ?? "")?.[1];
    } catch {
      return undefined;
    }
  });
}

test("kill › asks a proven foreign member, then ends its process and leaves its shell", async () => {
  const { t, ref, ctx, names } = await setUp();
  const peer = await foreignPeer(t, ref, "ada");
  const [report] = await killTeammates(ctx, ["ada"], { timeoutMs: 200 });
  expect(report).toMatchObject({ name: "ada", outcome: "killed", left: [] });
  expect(lives(peer)).toBe(false);
  expect(await requestOf(ref, "ada")).toMatch(/^shutdown-\d+@ada$/);
  expect(names()).not.toContain("ada");
  // The pane belongs to a person, whose shell has started the program.
  expect(t.tmux("list-panes", "-a", "-F", "#{pane_id}")).toContain(peer.pane);
});

test("kill › refuses to end a foreign member without proof, unless forced", async () => {
  const { ref, ctx, names } = await setUp();
  await joinByHand(ref, "ada");
  peerSays(ref, "ada", IDLE);
  await expect(killTeammates(ctx, ["ada"], { timeoutMs: 100 })).rejects.toMatchObject({
    code: "ACTIVE_MEMBERS",
    hint: expect.stringContaining("teams kill ada --force"),
  });
  expect(names()).toContain("ada");
  expect(await killTeammates(ctx, ["ada"], { force: true })).toMatchObject([{ outcome: "out-of-reach" }]);
  expect(names()).not.toContain("ada");
});

test("delete › keeps the team of a living foreign member", async () => {
  const { t, ref, ctx } = await setUp();
  const peer = await foreignPeer(t, ref, "ada");
  await expect(deleteTeam(ctx)).rejects.toMatchObject({
    code: "ACTIVE_MEMBERS",
    details: { active: ["ada"] },
  });
  expect([teamExists(ref), lives(peer)]).toEqual([true, true]);
});

test("delete › keeps the team of a foreign member without proof that has sent a message", async () => {
  const { ref, ctx } = await setUp();
  await joinByHand(ref, "ada");
  peerSays(ref, "ada", IDLE);
  await expect(deleteTeam(ctx)).rejects.toMatchObject({
    code: "ACTIVE_MEMBERS",
    details: { active: ["ada"] },
  });
  expect(teamExists(ref)).toBe(true);
});

test("delete › removes the team of a foreign member that has never sent a message", async () => {
  const { ref, ctx } = await setUp();
  await joinByHand(ref, "ada");
  await deleteTeam(ctx);
  expect(teamExists(ref)).toBe(false);
});

test("shutdown › removes a foreign member only once its process is gone", async () => {
  const { t, ref, ctx, names } = await setUp();
  const peer = await foreignPeer(t, ref, "ada");
  const ended = shutdownTeammates(ctx, ["ada"], { timeoutMs: 600_000 });
  const requestId = await requestOf(ref, "ada");
  const config = readFileSync(ref.paths.config);
  const readAnswers = (): number =>
    readFileSync(ref.paths.inbox("team-lead"), "utf8").split('"read": true').length - 1;
  // While the process lives, the member stays: each answer is read by a separate poll.
  for (let polls = 1; polls <= 3; polls += 1) {
    peerSays(ref, "ada", { type: "shutdown_approved", requestId });
    await eventually("a poll that reads the answer", () => readAnswers() === polls);
    expect(names()).toContain("ada");
  }
  // Claude 2.1.34 writes the config while it exits, which would restore a member that was already removed.
  writeFileSync(ref.paths.config, config);
  signalProcess(peer.process.pid, "SIGTERM");
  expect(await ended).toMatchObject([{ name: "ada", outcome: "approved" }]);
  expect(names()).not.toContain("ada");
});

test("shutdown › says that it cannot see whether a foreign member without a proven process has ended", async () => {
  const { ref, ctx, names } = await setUp();
  await joinByHand(ref, "ada");
  const ended = shutdownTeammates(ctx, ["ada"], { timeoutMs: 600_000 });
  peerSays(ref, "ada", { type: "shutdown_approved", requestId: await requestOf(ref, "ada") });
  expect(await ended).toEqual([{ name: "ada", outcome: "approved", unproven: true }]);
  expect(names()).toEqual(["team-lead"]);
  const [note] = (await unreadMessages(ref, "team-lead")).filter(({ message }) => message.from === "system");
  expect(note?.message.text).toContain("teams cannot see its process");
});

test("reconcile › removes a foreign member that agreed to end, even if no process was ever proven", async () => {
  const { ref, ctx, names } = await setUp();
  await joinByHand(ref, "ada");
  const { id } = await createTask(ref, { subject: "its work", owner: "ada" });
  const soon = { ...ctx, clock: { ...systemClock, now: () => at } };
  const at = systemClock.now();
  peerSays(ref, "ada", { type: "shutdown_approved", requestId: "shutdown-1@ada" });
  const config = readFileSync(ref.paths.config, "utf8");
  expect(await reconcile(soon)).toEqual([]);
  expect(names()).toContain("ada");
  const later = { ...ctx, clock: { ...systemClock, now: () => systemClock.now() + UNPROVEN_EXIT_MS } };
  expect(await reconcile(later)).toMatchObject([{ name: "ada", how: "shutdown" }]);
  expect([names(), getTask(ref, id)?.owner ?? ""]).toEqual([["team-lead"], ""]);
  // Claude 2.1.34 writes the config while it exits, which restores the member.
  await updateTeam(ref, (now) => ({ ...now, members: (JSON.parse(config) as typeof now).members }));
  expect(await reconcile(later)).toMatchObject([{ name: "ada", how: "shutdown" }]);
  expect(names()).toEqual(["team-lead"]);
});

test("reconcileAgreed › waits no longer than usual for a member whose clock is ahead", async () => {
  const { ref, ctx, names } = await setUp();
  await joinByHand(ref, "ada");
  const tomorrow = systemClock.now() + 86_400_000;
  peerSays(ref, "ada", { type: "shutdown_approved", requestId: "shutdown-1@ada" }, tomorrow);
  await reconcileAgreed(ctx);
  expect(names()).toContain("ada");
});

test("reconcile › keeps a foreign member that agreed to end while its process runs", async () => {
  const { t, ref, ctx, names } = await setUp();
  await foreignPeer(t, ref, "ada");
  peerSays(ref, "ada", { type: "shutdown_approved", requestId: "shutdown-1@ada" });
  const later = { ...ctx, clock: { ...systemClock, now: () => systemClock.now() + UNPROVEN_EXIT_MS } };
  expect(await reconcile(later)).toEqual([]);
  expect(names()).toContain("ada");
});

test.each([
  ["agreed to a shutdown that a model asked for", "agrees", ["team-lead"]],
  ["was killed", "is killed", ["team-lead", "ada"]],
  ["lost its pane, which a person closed", "loses its pane", ["team-lead", "ada"]],
] as const)("reconcile › processes the end of a foreign member that %s", async (_, how, left) => {
  const { t, ref, ctx, prove, names } = await setUp();
  const peer = await foreignPeer(t, ref, "ada");
  await prove();
  const { id } = await createTask(ref, { subject: "its work", owner: "ada" });
  const agrees = how === "agrees";
  if (agrees) peerSays(ref, "ada", { type: "shutdown_approved", requestId: "shutdown-1@ada" });
  expect(await reconcile(ctx)).toEqual([]);
  if (how === "loses its pane") t.tmux("kill-pane", "-t", peer.pane);
  else signalProcess(peer.process.pid, "SIGKILL");
  await eventually("the end of its process", () => !lives(peer));
  expect(await reconcile(ctx)).toMatchObject([{ name: "ada", how: agrees ? "shutdown" : "crashed" }]);
  expect(names()).toEqual(left);
  expect(getTask(ref, id)).toMatchObject({ status: "pending" });
  expect(getTask(ref, id)?.owner ?? "").toBe("");
  expect(await reconcile(ctx)).toEqual([]);
});

test("the end of a run › keeps the team of a foreign member that waits for a permission", async () => {
  const { ref, ctx, names } = await setUp();
  await updateTeam(ref, (config) => ({ ...config, leadProcess: ownIdentity() }));
  await joinByHand(ref, "ada");
  peerSays(ref, "ada", { type: "permission_request", request_id: "perm-1-a", tool_name: "Bash", input: {} });
  expect(await endRun(ctx, { timeoutMs: 100 })).toEqual([{ name: "ada", outcome: "out-of-reach", left: [] }]);
  expect([teamExists(ref), names()]).toEqual([true, ["team-lead", "ada"]]);
});
