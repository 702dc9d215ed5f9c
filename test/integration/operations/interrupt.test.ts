import { describe, expect, it } from "vitest";
import { interruptAgent } from "../../../src/operations/interrupt.ts";
import { ownIdentity } from "../../../src/os/process/identity.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { StatusRecord } from "../../../src/schema/status.ts";
import { unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { prepareRun, writeStatus } from "../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { peerTakes } from "../../support/team/foreign-peer.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { contextOf } from "../../support/worker/start-worker.ts";

/** Creates a team whose member `dev` has a status but reads no messages. */
async function withStatus(status: Partial<StatusRecord>): Promise<TeamRef> {
  const ref = await testTeam(["dev"]);
  await prepareRun(ref, ["dev"]);
  writeStatus(ref, "dev", statusOf({ process: ownIdentity(), ...status }));
  return ref;
}

const requests = async (ref: TeamRef): Promise<unknown[]> =>
  (await unreadMessages(ref, "dev")).map(({ protocol }) => protocol?.type);

describe("interruptAgent", () => {
  it("times out for an agent that does not react, and leaves the request in its inbox", async () => {
    const ref = await withStatus({ state: "running" });
    const error = await interruptAgent(contextOf(ref), "dev", { timeoutMs: 50 }).catch((caught) => caught);
    expect(error).toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("dev") });
    expect(await requests(ref)).toEqual(["interrupt_request"]);
  });

  it("ends its wait when its signal aborts, and leaves the request in the inbox", async () => {
    const ref = await withStatus({ state: "running" });
    const signal = AbortSignal.abort();
    const error = await interruptAgent(contextOf(ref), "dev", { signal }).catch((caught) => caught);
    expect(error).toMatchObject({
      code: "INTERRUPTED",
      message: "Interrupted while waiting for dev to end its turn; dev was asked to, and may still do so.",
    });
    expect(await requests(ref)).toEqual(["interrupt_request"]);
  });

  it.each(["idle", "awaiting-approval", "stopping"] as const)(
    "does nothing for an agent that is %s",
    async (state) => {
      const ref = await withStatus({ state });
      expect(await interruptAgent(contextOf(ref), "dev")).toEqual({ name: "dev", outcome: "idle" });
      expect(await requests(ref)).toEqual([]);
    },
  );

  it("does nothing for an agent paused between turns, and asks an agent paused in a turn", async () => {
    const resting = await withStatus({ state: "paused", resting: true });
    expect(await interruptAgent(contextOf(resting), "dev")).toEqual({ name: "dev", outcome: "idle" });
    expect(await requests(resting)).toEqual([]);
    const paused = await withStatus({ state: "paused", resting: false });
    await expect(interruptAgent(contextOf(paused), "dev", { timeoutMs: 50 })).rejects.toMatchObject({
      code: "TIMEOUT",
    });
    expect(await requests(paused)).toEqual(["interrupt_request"]);
  });

  it.each(["idle", "failed"] as const)(
    "does not count a CLI as idle when it has taken a message since its process reported %s",
    async (state) => {
      const ref = await withStatus({ state, ownInbox: true, newestTaken: 0 });
      await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "work" });
      expect(await interruptAgent(contextOf(ref), "dev")).toEqual({ name: "dev", outcome: "idle" });
      peerTakes(ref, "dev");
      await expect(interruptAgent(contextOf(ref), "dev")).rejects.toMatchObject({
        code: "PERMISSION_DENIED",
        message: expect.stringContaining("it is in no tmux pane"),
      });
    },
  );

  it("is refused for an agent that is not running", async () => {
    const ref = await withStatus({ state: "running", process: deadProcess() });
    await expect(interruptAgent(contextOf(ref), "dev")).rejects.toMatchObject({ code: "RECIPIENT_INACTIVE" });
  });

  it("sends a request to another program's agent, and does not wait", async () => {
    const ref = await testTeam(["peer"]);
    expect(await interruptAgent(contextOf(ref), "peer")).toEqual({ name: "peer", outcome: "asked" });
    expect((await unreadMessages(ref, "peer")).map(({ protocol }) => protocol?.type)).toEqual([
      "interrupt_request",
    ]);
  });

  it("is reserved for the lead, and never reaches the lead itself", async () => {
    const ref = await testTeam(["dev", "ada"]);
    await expect(interruptAgent(contextOf(ref, "ada"), "dev")).rejects.toMatchObject({ code: "NOT_LEAD" });
    await expect(interruptAgent(contextOf(ref), LEAD_NAME)).rejects.toMatchObject({
      code: "RECIPIENT_INACTIVE",
    });
  });
});
