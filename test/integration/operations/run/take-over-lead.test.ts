import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { becomeLead, takeOverLead } from "../../../../src/operations/run/take-over-lead.ts";
import { transcriptPath } from "../../../../src/protocol/paths.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { spentByTeam } from "../../../../src/team/members/budget.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** Creates a team that a person took over from a dead lead, which had spent $0.50, and returns what the team has spent. */
async function takenOver() {
  const ref = await testTeam();
  const ctx = contextOf(ref);
  const process = deadProcess();
  const sessionId = randomUUID();
  await updateTeam(ref, (config) => ({
    ...config,
    leadSessionId: sessionId,
    leadProcess: { ...process, claimedAt: 1 },
  }));
  writeStatus(ref, LEAD_NAME, statusOf({ process, sessionId, costUsd: 0.5 }));
  expect(await takeOverLead(ctx, false)).toBe("taken");
  return { ref, ctx, sessionId, spent: () => spentByTeam(ref, readTeam(ref)).costUsd };
}

test("takeOverLead › keeps what the dead lead has spent in the team's budget", async () => {
  const { ref, ctx, spent } = await takenOver();
  expect(readStatus(ref, LEAD_NAME)).toBeUndefined();
  expect(spent()).toBe(0.5);
  expect(await becomeLead(ctx)).toMatchObject({ isNew: true });
  expect(spent()).toBe(0.5);
});

test("becomeLead › counts once what was spent in the conversation that it continues", async () => {
  const { ref, ctx, sessionId, spent } = await takenOver();
  const transcript = transcriptPath(ref.home.root, sessionId);
  mkdirSync(dirname(transcript), { recursive: true });
  writeFileSync(transcript, "");
  expect(await becomeLead(ctx)).toEqual({ sessionId, isNew: false });
  // Its process restores the spending from the conversation.
  writeStatus(ref, LEAD_NAME, statusOf({ sessionId, costUsd: 0.5 }));
  expect(spent()).toBe(0.5);
});
