import { describe, expect, it } from "vitest";
import { interruptAgent } from "../../../src/operations/interrupt.ts";
import { ownIdentity } from "../../../src/os/process/identity.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { StatusRecord } from "../../../src/schema/status.ts";
import { unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { prepareRun, writeStatus } from "../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { contextOf } from "../../support/worker/start-worker.ts";

/** A team whose member `dev` has a record and nothing that reads its inbox. */
async function withStatus(status: Partial<StatusRecord>): Promise<TeamRef> {
  const ref = await testTeam(["dev"]);
  await prepareRun(ref, ["dev"]);
  writeStatus(ref, "dev", statusOf({ process: ownIdentity(), ...status }));
  return ref;
}

const requests = async (ref: TeamRef): Promise<unknown[]> =>
  (await unreadMessages(ref, "dev")).map(({ protocol }) => protocol?.type);

describe("an interrupt", () => {
  it("of an agent that does not take it is said in time, and waits in its inbox", async () => {
    const ref = await withStatus({ state: "running" });
    const error = await interruptAgent(contextOf(ref), "dev", { timeoutMs: 50 }).catch((caught) => caught);
    expect(error).toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("dev") });
    expect(await requests(ref)).toEqual(["interrupt_request"]);
  });

  it.each(["idle", "awaiting-approval", "stopping"] as const)(
    "of one that is %s is nothing, and sends nothing",
    async (state) => {
      const ref = await withStatus({ state });
      expect(await interruptAgent(contextOf(ref), "dev")).toEqual({ name: "dev", outcome: "idle" });
      expect(await requests(ref)).toEqual([]);
    },
  );

  it("of one that does not run is refused", async () => {
    const ref = await withStatus({ state: "running", process: deadProcess() });
    await expect(interruptAgent(contextOf(ref), "dev")).rejects.toMatchObject({ code: "RECIPIENT_INACTIVE" });
  });

  it("of a foreign agent is sent, and not waited for", async () => {
    const ref = await testTeam(["peer"]);
    expect(await interruptAgent(contextOf(ref), "peer")).toEqual({ name: "peer", outcome: "asked" });
    expect((await unreadMessages(ref, "peer")).map(({ protocol }) => protocol?.type)).toEqual([
      "interrupt_request",
    ]);
  });

  it("is the lead's to ask for", async () => {
    const ref = await testTeam(["dev", "ada"]);
    await expect(interruptAgent(contextOf(ref, "ada"), "dev")).rejects.toMatchObject({ code: "NOT_LEAD" });
    await expect(interruptAgent(contextOf(ref), LEAD_NAME)).rejects.toMatchObject({
      code: "RECIPIENT_INACTIVE",
    });
  });
});
