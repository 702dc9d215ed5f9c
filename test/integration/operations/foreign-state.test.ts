import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { answerApproval } from "../../../src/operations/approvals/approvals.ts";
import { runState } from "../../../src/operations/run/run-state.ts";
import { teamStatus } from "../../../src/operations/status.ts";
import { teamOverview } from "../../../src/operations/team-summary.ts";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { listTeams } from "../../../src/team/config/config.ts";
import { markAsRead, unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { type TeamRef, teamRef } from "../../../src/team/ref.ts";
import {
  contextOutsideTmux,
  foreignPeer,
  IDLE,
  joinByHand,
  peerSays,
  peerTakes,
  teamInTmuxHome,
} from "../../support/team/foreign-peer.ts";
import { reconcileContext } from "../../support/team/reconcile-context.ts";
import { statusOf } from "../../support/team/status-records.ts";
import { testHome, testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const sendWork = (ref: TeamRef, text = "work") => sendMessage(ref, { from: LEAD_NAME, to: "ada", text });

async function shown(ref: TeamRef, ctx = reconcileContext(ref)) {
  const { members } = await teamStatus(ctx);
  const ada = members.find(({ name }) => name === "ada");
  return { state: ada?.state, stateFrom: ada?.stateFrom, alive: ada?.alive, activity: ada?.activity };
}

const PERMISSION = {
  type: "permission_request",
  request_id: "perm-1795228017024-b3vurhr",
  agent_id: "ada",
  tool_name: "Bash",
  input: { command: "make" },
  permission_suggestions: [],
};

test.each(["marks", "removes"] as const)(
  "a foreign member that %s its messages › goes from unknown to running to idle",
  async (how) => {
    const ref = await testTeam();
    await joinByHand(ref, "ada");
    expect(await shown(ref)).toMatchObject({ state: "unknown", stateFrom: null, alive: null });
    await sendWork(ref);
    expect(await shown(ref)).toMatchObject({ state: "unknown", stateFrom: "inbox" });
    peerTakes(ref, "ada", how);
    expect(await shown(ref)).toMatchObject({ state: "running", stateFrom: "inbox" });
    peerSays(ref, "ada", IDLE);
    expect(await shown(ref)).toMatchObject({ state: "idle", stateFrom: "notice" });
  },
);

test.each([
  ["marks", "idle"],
  ["marks", "failed"],
  ["removes", "idle"],
  ["removes", "unknown"],
] as const)(
  "a CLI that %s its messages › is running until its process reports what it has seen, although its status says %s",
  async (how, state) => {
    const ref = await testTeam(["ada"]);
    const reported = statusOf({ ownInbox: true, state, activity: "before" });
    writeStatus(ref, "ada", { ...reported, newestTaken: 0 });
    const busy = () => runState(reconcileContext(ref)).busy;
    await sendWork(ref);
    expect([(await shown(ref)).state, busy()]).toEqual([state, 1]);
    peerTakes(ref, "ada", how);
    expect(await shown(ref)).toEqual({ state: "running", stateFrom: "inbox", alive: true, activity: "" });
    expect(busy()).toBe(1);
    writeStatus(ref, "ada", { ...reported, newestTaken: Date.now() });
    expect([(await shown(ref)).state, busy()]).toEqual([state, 0]);
    // A process of an earlier version does not report what it has seen.
    writeStatus(ref, "ada", reported);
    expect([(await shown(ref)).state, busy()]).toEqual([state, 0]);
  },
);

test("a foreign member › is idle although the lead's agent has read its idle notice and dropped it", async () => {
  const ref = await testTeam();
  await joinByHand(ref, "ada");
  peerSays(ref, "ada", IDLE);
  const unread = await unreadMessages(ref, LEAD_NAME);
  await markAsRead(
    ref,
    LEAD_NAME,
    unread.map(({ key }) => key),
  );
  peerTakes(ref, LEAD_NAME);
  expect(await shown(ref)).toMatchObject({ state: "idle", stateFrom: "notice" });
});

test("a foreign member › is idle although a later message of it has an invalid time", async () => {
  const ref = await testTeam();
  await joinByHand(ref, "ada");
  peerSays(ref, "ada", IDLE);
  const readAll = async (): Promise<unknown> =>
    markAsRead(
      ref,
      LEAD_NAME,
      (await unreadMessages(ref, LEAD_NAME)).map(({ key }) => key),
    );
  await readAll();
  peerTakes(ref, LEAD_NAME);
  writeFileSync(
    ref.paths.inbox(LEAD_NAME),
    JSON.stringify([{ from: "ada", text: "by the way", timestamp: "today", read: false }]),
  );
  await readAll();
  peerTakes(ref, LEAD_NAME);
  expect(await shown(ref)).toMatchObject({ state: "idle", stateFrom: "notice" });
});

test("a foreign member › needs input while its permission waits, and runs once it has taken the answer", async () => {
  const ref = await testTeam();
  await joinByHand(ref, "ada");
  peerSays(ref, "ada", PERMISSION);
  expect(await shown(ref)).toMatchObject({ state: "needs-input", stateFrom: "request" });
  expect(runState(reconcileContext(ref)).busy).toBe(1);
  await answerApproval(reconcileContext(ref), PERMISSION.request_id, { approve: true });
  peerTakes(ref, "ada");
  expect(await shown(ref)).toMatchObject({ state: "running", stateFrom: "inbox" });
  peerSays(ref, "ada", IDLE);
  expect(await shown(ref)).toMatchObject({ state: "idle" });
  expect(runState(reconcileContext(ref)).busy).toBe(0);
});

test("a foreign member › has failed, with the reason, after a turn that failed", async () => {
  const ref = await testTeam();
  await joinByHand(ref, "ada");
  const failureReason = "Not logged in · Please run /login";
  peerSays(ref, "ada", { ...IDLE, idleReason: "failed", failureReason });
  expect(await shown(ref)).toMatchObject({ state: "failed", stateFrom: "notice", activity: failureReason });
});

test("a foreign member › counts in the list of teams once its state is known", async () => {
  const ref = await testTeam();
  const listed = () => listTeams(ref.home).map((entry) => teamOverview(ref.home, entry).state);
  await joinByHand(ref, "ada");
  expect(listed()).toEqual(["stopped"]);
  peerSays(ref, "ada", IDLE);
  expect(listed()).toEqual(["idle"]);
  await sendWork(ref);
  peerTakes(ref, "ada");
  expect(listed()).toEqual(["running"]);
});

test("a foreign member › is not idle because of a notice from an earlier member of the same name", async () => {
  const ref = await testTeam();
  peerSays(ref, "ada", IDLE, Date.now() - 60_000);
  await joinByHand(ref, "ada");
  expect(await shown(ref)).toMatchObject({ state: "unknown" });
});

test("a foreign member › has the pid and pane of its proven process, and has crashed when the process is killed", async () => {
  const t = privateTmux();
  t.session();
  const ref = await teamInTmuxHome(t);
  const ctx = contextOutsideTmux(t, ref);
  const peer = await foreignPeer(t, ref, "ada");
  peerSays(ref, "ada", IDLE);
  const [, ada] = (await teamStatus(ctx)).members;
  const { pid } = peer.process;
  expect(ada).toMatchObject({ state: "idle", alive: true, pid, paneId: peer.pane });
  signalProcess(pid, "SIGKILL");
  const crashed = await eventually("the crash", async () => {
    const now = await shown(ref, ctx);
    return now.alive === false ? now : undefined;
  });
  expect(crashed).toMatchObject({ state: "crashed", stateFrom: "process" });
  expect((await teamStatus(ctx)).approvals).toEqual([]);
});

test("a foreign member › has exited when its pane is closed after it agreed to shut down", async () => {
  const t = privateTmux();
  t.session();
  const ref = await teamInTmuxHome(t);
  const ctx = contextOutsideTmux(t, ref);
  const peer = await foreignPeer(t, ref, "ada");
  await teamStatus(ctx);
  peerSays(ref, "ada", { type: "shutdown_approved", requestId: "shutdown-1@ada" });
  expect(await shown(ref, ctx)).toMatchObject({ state: "stopping", alive: true });
  t.tmux("kill-pane", "-t", peer.pane);
  await eventually("the member's exit", async () => (await shown(ref, ctx)).state === "exited");
});

test.each([
  ["2.1.34", "my-team", ["alpha idle notice", "beta idle notice"]],
  ["2.1.150", "my-team", ["beta idle notice"]],
  ["2.1.329", "session-849c65b5", ["alpha unknown inbox", "beta unknown null"]],
])("the members of a team of claude %s › have states", async (version, name, expected) => {
  const home = testHome();
  const from = fileURLToPath(new URL(`../../fixtures/peers/${version}/team`, import.meta.url));
  cpSync(from, join(home.root, "teams", name), { recursive: true });
  const { members } = await teamStatus(reconcileContext(teamRef(home, name)));
  const [lead, ...others] = members;
  expect(lead).not.toHaveProperty("stateFrom");
  expect(others.map((one) => `${one.name} ${one.state} ${one.stateFrom}`)).toEqual(expected);
});
