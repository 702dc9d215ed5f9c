import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { deleteTeam } from "../../../../src/operations/ending/delete-team.ts";
import { isAlive } from "../../../../src/operations/ending/kill.ts";
import { identityOf } from "../../../../src/os/process/identity.ts";
import { teamExists } from "../../../../src/team/config/config.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { failingRenames } from "../../../support/files/failing-renames.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

test("deleteTeam › says which members it had ended when the disk is full", async () => {
  const child = spawn("sleep", ["600"], { detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  const process = identityOf(child.pid ?? 0);
  if (process === undefined) throw new Error("The process has no identity.");
  const ref = await testTeam(["dev", "ada"]);
  writeStatus(ref, "dev", statusOf({ process }));
  const ctx = contextOf(ref);
  // The disk has room for the claim before the signals.
  const restore = failingRenames((_from, to) => to === ref.paths.config && !isAlive(ctx, "dev"));
  await expect(deleteTeam(ctx, { force: true })).rejects.toMatchObject({
    code: "STORAGE_ERROR",
    message: expect.stringMatching(/ENOSPC.* dev was already ended; the team is not deleted\.$/),
    hint: "Free some disk space there and try again.",
    details: { ended: ["dev"] },
  });
  expect(teamExists(ref)).toBe(true);
  restore();
  await deleteTeam(ctx, { force: true });
  expect(teamExists(ref)).toBe(false);
});
