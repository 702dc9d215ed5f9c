import { existsSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isRunOver, runState } from "../../../../src/operations/run/run-state.ts";
import { reconcile } from "../../../../src/operations/supervision/reconcile.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { readUnsentReports, writeUnsentReports } from "../../../../src/team/mailbox/unsent-reports.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { ring } from "../../../../src/wakeup/fifo-bell.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

/** Makes the lead's inbox inaccessible, as a lock that another program holds for too long does, but at once. */
function blockLead(ref: TeamRef): () => void {
  const path = ref.paths.inbox(LEAD_NAME);
  rmSync(path, { force: true });
  mkdirSync(path);
  return () => rmdirSync(path);
}

const begin = (ref: TeamRef, text = "begin") => sendMessage(ref, { from: LEAD_NAME, to: "dev", text });

/** The results that the lead has received, in order. */
async function resultsOf(ref: TeamRef): Promise<readonly unknown[]> {
  const entries = await unreadMessages(ref, LEAD_NAME);
  return entries.map(({ protocol }) =>
    protocol?.type === "idle_notification" ? protocol.result : protocol?.type,
  );
}

const state = (ref: TeamRef) => readStatus(ref, "dev");
const stopped = (ref: TeamRef) => () => state(ref)?.state === "idle" && state(ref)?.background === 1;

describe("result of a turn that cannot be delivered", () => {
  it("is kept on disk, makes the agent look busy, and is sent once when the lead can be reached", async () => {
    const ref = await testTeam(["dev"]);
    const unblock = blockLead(ref);
    const dev = await workerOfTest(ref, { turns: [{ say: "first" }, { say: "second" }] });
    await begin(ref);
    await eventually("the end of the turn", stopped(ref));
    expect(readUnsentReports(ref, "dev")).toMatchObject([{ to: LEAD_NAME, from: "dev" }]);
    expect(dev.shown).toContain("note: the report to the lead is kept, and sent again later");
    // The agent keeps working meanwhile; its next report follows the first one.
    await begin(ref, "again");
    await eventually("two reports", () => readUnsentReports(ref, "dev").length === 2);
    unblock();
    expect(isRunOver(runState(contextOf(ref)))).toBe(false);
    expect(ring(state(ref)?.bell ?? "")).toBe("rung");
    await eventually("the delivery", () => state(ref)?.background === 0);
    expect(await resultsOf(ref)).toEqual(["first", "second"]);
    expect(existsSync(ref.paths.agent("dev").unsent)).toBe(false);
    ring(state(ref)?.bell ?? "");
    await begin(ref, "once more");
    await eventually("the next turn", () => dev.inputs.length === 3);
    expect(await resultsOf(ref)).toEqual(["first", "second"]);
  });

  it("is sent by the next process of the agent", async () => {
    const ref = await testTeam(["dev"]);
    const unblock = blockLead(ref);
    const dev = await workerOfTest(ref, { turns: [{ say: "first" }] });
    await begin(ref);
    await eventually("the end of the turn", stopped(ref));
    await dev.stop("SIGTERM");
    unblock();
    await workerOfTest(ref, { turns: [{ say: "never" }] });
    await eventually("the delivery", async () => (await resultsOf(ref)).length > 0);
    expect(await resultsOf(ref)).toEqual(["first"]);
  });

  it("is sent after the turn is resumed, if it cannot be written to disk either", async () => {
    const ref = await testTeam(["dev"]);
    const unblock = blockLead(ref);
    const { unsent } = ref.paths.agent("dev");
    mkdirSync(unsent, { recursive: true });
    const dev = await workerOfTest(ref, { turns: [{ say: "first" }] });
    await begin(ref);
    await eventually("the end of the turn", stopped(ref));
    await dev.stop("SIGTERM");
    unblock();
    rmdirSync(unsent);
    await workerOfTest(ref, { turns: [{ say: "first" }] });
    await eventually("the delivery", async () => (await resultsOf(ref)).length > 0);
    expect(await resultsOf(ref)).toEqual(["first"]);
  });

  it("is sent by the process that handles the agent's end, before the notice of that end", async () => {
    const ref = await testTeam(["dev"]);
    writeStatus(ref, "dev", statusOf({ process: deadProcess(), state: "idle" }));
    const report = {
      from: "dev",
      to: LEAD_NAME,
      text: "found it",
      messageId: "11111111-1111-8111-8111-111111111111",
    };
    writeUnsentReports(ref, "dev", [report]);
    await reconcile(contextOf(ref));
    const texts = (await unreadMessages(ref, LEAD_NAME)).map(({ message }) => message.text);
    expect(texts).toEqual(["found it", expect.stringContaining("teammate_terminated")]);
    expect(readUnsentReports(ref, "dev")).toEqual([]);
  });
});
