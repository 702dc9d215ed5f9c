import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { deleteTeam } from "../../../../src/operations/ending/delete-team.ts";
import { isAlive } from "../../../../src/operations/ending/kill.ts";
import { livenessOf } from "../../../../src/os/process/identity.ts";
import type { Ending } from "../../../../src/schema/ending.ts";
import { withMetadata } from "../../../../src/schema/member-metadata.ts";
import { teamExists, updateTeam } from "../../../../src/team/config/config.ts";
import { changeMetadata } from "../../../../src/team/members/members.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { failingRenames } from "../../../support/files/failing-renames.ts";
import { livingProcess } from "../../../support/processes/living-process.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

test("deleteTeam › says which members it had ended when the disk is full", async () => {
  const process = await livingProcess();
  const ref = await testTeam(["dev", "ada"]);
  writeStatus(ref, "dev", statusOf({ process }));
  const ctx = contextOf(ref);
  // The disk has room for the claim before the signals.
  const restore = failingRenames((_from, to) => to === ref.paths.config && !isAlive(ctx, "dev"));
  await expect(deleteTeam(ctx, { force: true })).rejects.toMatchObject({
    code: "STORAGE_ERROR",
    message: expect.stringMatching(/ENOSPC.* Ended before that: dev\. The team was not deleted\.$/),
    hint: "Free some disk space on that file system and try again.",
    details: { ended: ["dev"] },
  });
  expect(teamExists(ref)).toBe(true);
  restore();
  await deleteTeam(ctx, { force: true });
  expect(teamExists(ref)).toBe(false);
});

test("deleteTeam › keeps the team if the signal aborts while another process completes an ending", async () => {
  const by = await livingProcess();
  const ref = await testTeam();
  const claimed = { by, at: Date.now(), tries: 1 };
  const ending: Ending = { id: "x", name: "dev", how: "killed", news: "", tasks: [], ...claimed };
  await updateTeam(ref, (config) => withMetadata(config, { endings: [ending] }));
  const stop = new AbortController();
  const backup = async (): Promise<void> => void setImmediate(() => stop.abort());
  await expect(deleteTeam(contextOf(ref), { backup, signal: stop.signal })).rejects.toMatchObject({
    code: "INTERRUPTED",
    message:
      "The deletion was interrupted: the team and its files are kept. Clean worktrees of ended members may be gone.",
    hint: "Run it again: teams delete crew",
  });
  expect(teamExists(ref)).toBe(true);
});

test("deleteTeam › changes nothing if the signal aborts before it ends a member", async () => {
  const process = await livingProcess();
  const ref = await testTeam(["dev"]);
  writeStatus(ref, "dev", statusOf({ process }));
  const ctx = contextOf(ref);
  const stop = new AbortController();
  const backup = async (): Promise<void> => stop.abort();
  await expect(deleteTeam(ctx, { force: true, backup, signal: stop.signal })).rejects.toMatchObject({
    code: "INTERRUPTED",
    message: "The deletion was interrupted: nothing was changed.",
    hint: "Run it again: teams delete --force crew",
  });
  expect([teamExists(ref), isAlive(ctx, "dev")]).toEqual([true, true]);
});

test("deleteTeam › ends what a start that was cut off left running", async () => {
  const ref = await testTeam(["dev"]);
  const startClaim = { instance: randomUUID(), first: true, by: deadProcess(), at: Date.now() };
  await changeMetadata(ref, "dev", { startClaim });
  const process = await livingProcess({ TEAMS_INSTANCE: startClaim.instance });
  await deleteTeam(contextOf(ref));
  expect([teamExists(ref), livenessOf(process)]).toEqual([false, "dead"]);
});

/** Creates a team whose member dev has ended, and a function that records a running process of dev. */
async function restartable() {
  const ref = await testTeam(["dev"]);
  writeStatus(ref, "dev", statusOf({ process: deadProcess() }));
  const process = await livingProcess();
  const restart = (): void => writeStatus(ref, "dev", statusOf({ process, instance: "again" }));
  return { ref, restart, process };
}

test("deleteTeam › refuses if a member was started during the backup", async () => {
  const { ref, restart, process } = await restartable();
  await expect(deleteTeam(contextOf(ref), { backup: async () => restart() })).rejects.toMatchObject({
    code: "ACTIVE_MEMBERS",
    message: "dev still runs; nothing was deleted.",
  });
  expect([teamExists(ref), livenessOf(process)]).toEqual([true, "alive"]);
});

test("deleteTeam › keeps the files if a member is started before they are removed", async () => {
  const { ref, restart, process } = await restartable();
  // The index of ended teams is written right before the files are removed, with the time of the clock.
  const now = (): number => {
    restart();
    return Date.now();
  };
  await expect(deleteTeam(contextOf(ref, undefined, { clock: { now } }))).rejects.toMatchObject({
    code: "ACTIVE_MEMBERS",
    message: expect.stringMatching(/^dev was started meanwhile: the team and its files are kept\./),
    details: { active: ["dev"] },
  });
  expect([teamExists(ref), livenessOf(process)]).toEqual([true, "alive"]);
});
