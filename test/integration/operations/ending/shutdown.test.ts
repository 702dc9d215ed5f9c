import { describe, expect, it } from "vitest";
import { shutdownTeammates } from "../../../../src/operations/ending/shutdown.ts";
import { interruptAgent } from "../../../../src/operations/interrupt.ts";
import type { Clock } from "../../../../src/os/clock.ts";
import { formatProtocol } from "../../../../src/protocol/messages.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { markAsRead, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

const HOUR = 3_600_000;

/** As when a laptop was asleep: each look at it is an hour after the one before. */
function leapingClock(): Clock {
  let looks = 0;
  return {
    now: () => {
      looks += 1;
      return Date.now() + looks * HOUR;
    },
  };
}

/** What the lead has asked of dev, which lives in this process. */
async function asked(ref: TeamRef, type: "shutdown_request" | "interrupt_request") {
  return eventually(type, async () =>
    (await unreadMessages(ref, "dev")).find(({ protocol }) => protocol?.type === type),
  );
}

describe("while the time of day leaps", () => {
  it("whoever is asked to end has its time to answer", async () => {
    const ref = await withDev();
    const ending = shutdownTeammates(contextOf(ref, LEAD_NAME, { clock: leapingClock() }), ["dev"]);
    const { protocol } = await asked(ref, "shutdown_request");
    const requestId = protocol?.type === "shutdown_request" ? protocol.requestId : "";
    const answer = { type: "shutdown_rejected" as const, requestId, from: "dev", reason: "I am not done." };
    await sendMessage(ref, { from: "dev", to: LEAD_NAME, text: formatProtocol(answer, new Date()) });
    expect(await ending).toEqual([{ name: "dev", outcome: "rejected", reason: "I am not done." }]);
  });

  it("an interrupt has its time to be taken", async () => {
    const ref = await withDev();
    const interrupting = interruptAgent(contextOf(ref, LEAD_NAME, { clock: leapingClock() }), "dev");
    const { key } = await asked(ref, "interrupt_request");
    await markAsRead(ref, "dev", [key]);
    const status = readStatus(ref, "dev");
    if (status !== undefined) writeStatus(ref, "dev", { ...status, state: "idle" });
    expect(await interrupting).toEqual({ name: "dev", outcome: "interrupted" });
  });
});

describe("where one of those named cannot be asked", () => {
  it.each([
    ["the lead", LEAD_NAME, "INVALID_INPUT"],
    ["nobody", "zoo", "AGENT_NOT_FOUND"],
  ])("since it is %s, no other is asked either", async (_, name, code) => {
    const ref = await withDev();
    const ending = shutdownTeammates(contextOf(ref, LEAD_NAME), ["dev", name], { timeoutMs: 0 });
    await expect(ending).rejects.toMatchObject({ code });
    expect(await unreadMessages(ref, "dev")).toEqual([]);
  });
});

async function withDev(): Promise<TeamRef> {
  const ref = await testTeam(["dev"]);
  await prepareRun(ref, ["dev"]);
  writeStatus(ref, "dev", statusOf({ state: "running" }));
  return ref;
}
