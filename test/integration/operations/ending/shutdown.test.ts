import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  requestShutdown,
  type ShutdownReport,
  shutdownTeammates,
} from "../../../../src/operations/ending/shutdown.ts";
import { interruptAgent } from "../../../../src/operations/interrupt.ts";
import { teamStatus } from "../../../../src/operations/status.ts";
import type { Clock } from "../../../../src/os/clock.ts";
import { formatProtocol } from "../../../../src/protocol/messages.ts";
import { shutdownRequestId } from "../../../../src/protocol/request-ids.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { markAsRead, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { touchedPaths } from "../../../support/files/touched-paths.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

const HOUR = 3_600_000;
/** Less than a jump of the clock, and longer than a machine stalls. */
const LIMIT = { timeoutMs: 600_000 };

/** Returns a clock that jumps an hour at each reading, as after a laptop's sleep. */
function leapingClock(): Clock {
  let readings = 0;
  return {
    now: () => {
      readings += 1;
      return Date.now() + readings * HOUR;
    },
  };
}

/** Waits for the lead's request to dev, which lives in this process. */
async function asked(ref: TeamRef, type: "shutdown_request" | "interrupt_request") {
  return eventually(type, async () =>
    (await unreadMessages(ref, "dev")).find(({ protocol }) => protocol?.type === type),
  );
}

describe("a member that is asked to shut down", () => {
  const state = async (ref: TeamRef): Promise<unknown> =>
    (await teamStatus(contextOf(ref))).members.find(({ name }) => name === "dev")?.state;

  it("is shown as stopping during its turn, until it refuses", async () => {
    const ref = await testTeam(["dev"]);
    const refusal = {
      type: "shutdown_response",
      request_id: "{{request_id}}",
      approve: false,
      content: "No.",
    };
    const wait = { name: "Bash", input: { command: "until [ -e go ]; do sleep 0.02; done" } };
    const turns = [{ tools: [wait] }, { tools: [{ name: "SendMessage", input: refusal }] }, { say: "stays" }];
    const dev = await workerOfTest(ref, { turns });
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
    await eventually("its command to run", () => readStatus(ref, "dev")?.activity.startsWith("Bash("));
    expect(await state(ref)).toBe("running");
    await requestShutdown(contextOf(ref), ["dev"]);
    await eventually("its notice of the request", () => readStatus(ref, "dev")?.shutdownRequested);
    expect([await state(ref), readStatus(ref, "dev")?.state]).toEqual(["stopping", "running"]);
    writeFileSync(join(dev.cwd, "go"), "");
    await eventually("its refusal", async () => (await state(ref)) === "idle");
  });

  it("is shown as idle again if its turn ends without an answer", async () => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, { turns: [{ on: { contains: "shutdown" }, say: "I go on." }] });
    await requestShutdown(contextOf(ref), ["dev"]);
    await eventually("the end of its turn", () => dev.shown.includes("turn_ended"));
    await eventually("its idle state", async () => (await state(ref)) === "idle");
  });

  it("is shown as stopping before it reads the request, even if it joined by file", async () => {
    const ref = await testTeam(["dev"]);
    expect(await state(ref)).toBe("unknown");
    await requestShutdown(contextOf(ref), ["dev"]);
    expect(await state(ref)).toBe("stopping");
    writeStatus(ref, "dev", statusOf({ process: deadProcess() }));
    expect(await state(ref)).toBe("crashed");
  });
});

describe("with a clock that jumps", () => {
  it("a shutdown request still leaves time for an answer", async () => {
    const ref = await withDev();
    const ending = shutdownTeammates(contextOf(ref, LEAD_NAME, { clock: leapingClock() }), ["dev"], LIMIT);
    const { protocol } = await asked(ref, "shutdown_request");
    const requestId = protocol?.type === "shutdown_request" ? protocol.requestId : "";
    const answer = { type: "shutdown_rejected" as const, requestId, from: "dev", reason: "I am not done." };
    await sendMessage(ref, { from: "dev", to: LEAD_NAME, text: formatProtocol(answer, new Date()) });
    expect(await ending).toEqual([{ name: "dev", outcome: "rejected", reason: "I am not done." }]);
  });

  it("an interrupt still leaves time to react", async () => {
    const ref = await withDev();
    const interrupting = interruptAgent(contextOf(ref, LEAD_NAME, { clock: leapingClock() }), "dev", LIMIT);
    const { key } = await asked(ref, "interrupt_request");
    await markAsRead(ref, "dev", [key]);
    const status = readStatus(ref, "dev");
    if (status !== undefined) writeStatus(ref, "dev", { ...status, state: "idle" });
    expect(await interrupting).toEqual({ name: "dev", outcome: "interrupted" });
  });
});

describe("shutdownTeammates with an invalid name", () => {
  it.each([
    ["the lead", LEAD_NAME, "INVALID_INPUT"],
    ["unknown", "zoo", "AGENT_NOT_FOUND"],
  ])("asks no member at all if one is %s", async (_, name, code) => {
    const ref = await withDev();
    const ending = shutdownTeammates(contextOf(ref, LEAD_NAME), ["dev", name], { timeoutMs: 0 });
    await expect(ending).rejects.toMatchObject({ code });
    expect(await unreadMessages(ref, "dev")).toEqual([]);
  });
});

describe("shutdownTeammates with many teammates that end at once", () => {
  const NAMES = Array.from({ length: 8 }, (_, index) => `dev-${index}`);
  const NOW = 1_700_000_000_000;

  it("writes the config at most once for each teammate", async () => {
    const ref = await agreedAndEnded(NAMES);
    const ctx = contextOf(ref, LEAD_NAME, { clock: { now: () => NOW } });
    let reports: readonly ShutdownReport[] = [];
    const touched = await touchedPaths(async () => {
      reports = await shutdownTeammates(ctx, NAMES);
    });
    expect(reports).toEqual(NAMES.map((name) => ({ name, outcome: "approved" })));
    // Each write reads and replaces the copy of the config.
    const copies = touched.filter((path) => path === ref.paths.lastConfig);
    expect(copies.length).toBeLessThanOrEqual(2 * NAMES.length);
    expect(readTeam(ref).members.map(({ name }) => name)).toEqual([LEAD_NAME]);
    const texts = (await unreadMessages(ref, LEAD_NAME)).map(({ message }) => message.text);
    for (const name of NAMES)
      expect(texts.filter((text) => text.includes(`${name} has shut down`))).toHaveLength(1);
  });

  /** Creates a team whose teammates have agreed to requests of this time, and ended. */
  async function agreedAndEnded(names: readonly string[]): Promise<TeamRef> {
    const ref = await testTeam(names);
    await prepareRun(ref, names);
    for (const name of names) {
      writeStatus(ref, name, statusOf({ state: "exited", instance: name, process: deadProcess() }));
      const requestId = shutdownRequestId(name, NOW);
      const text = formatProtocol({ type: "shutdown_approved", requestId, from: name }, new Date(NOW));
      await sendMessage(ref, { from: name, to: LEAD_NAME, text });
    }
    return ref;
  }
});

async function withDev(): Promise<TeamRef> {
  const ref = await testTeam(["dev"]);
  await prepareRun(ref, ["dev"]);
  writeStatus(ref, "dev", statusOf({ state: "running" }));
  return ref;
}
