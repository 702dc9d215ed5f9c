import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Backend } from "../../../../src/backend/backend.ts";
import { isAlive, killTeammates } from "../../../../src/operations/ending/kill.ts";
import { systemClock } from "../../../../src/os/clock.ts";
import { livenessOf } from "../../../../src/os/process/identity.ts";
import type { ProcessIdentity } from "../../../../src/schema/process-identity.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { writePlace } from "../../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { livingProcess } from "../../../support/processes/living-process.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** Starts a process, and records it as that of a member. Its instance has the member's name. */
async function processOf(ref: TeamRef, name: string): Promise<ProcessIdentity> {
  const process = await livingProcess();
  writeStatus(ref, name, statusOf({ process, instance: name }));
  const { pid: panePid, procStart: paneProcStart } = process;
  writePlace(ref, name, { instance: name, backend: "process", spawnedAt: 1, panePid, paneProcStart });
  return process;
}

test("killTeammates › ends the other members completely if one cannot be ended", async () => {
  const ref = await testTeam(["dev", "ada"]);
  for (const name of ["dev", "ada"]) await processOf(ref, name);
  const plain = contextOf(ref);
  const closed: string[] = [];
  const own = plain.backends.of("process") ?? expect.fail("There is no such backend.");
  const backend: Backend = {
    ...own,
    leave: async (places) => {
      if (places.some(({ instance }) => instance === "dev")) throw new Error("no such server");
    },
    close: async (places) => void closed.push(...places.map(({ instance }) => instance)),
  };
  const ctx = { ...plain, backends: { ...plain.backends, of: () => backend } };
  await expect(killTeammates(ctx, ["dev", "ada"], { force: true })).rejects.toThrow("no such server");
  expect([isAlive(ctx, "dev"), isAlive(ctx, "ada")]).toEqual([true, false]);
  expect(readTeam(ref).members.map(({ name }) => name)).toEqual(["team-lead", "dev"]);
  expect(closed).toEqual(["ada"]);
});

test("killTeammates › spares the next member of a name that left while it was asked", async () => {
  const ref = await testTeam(["dev"]);
  const process = await processOf(ref, "dev");
  let isReplaced = false;
  const replace = (): void => {
    isReplaced = true;
    const config = readTeam(ref);
    const members = config.members.map((one) => (one.name === "dev" ? { ...one, joinedAt: 5 } : one));
    writeFileSync(ref.paths.config, JSON.stringify({ ...config, members }));
  };
  // The request reads the clock, after the members were found.
  const now = (): number => {
    if (!isReplaced) replace();
    return systemClock.now();
  };
  const ctx = contextOf(ref, undefined, { clock: { now } });
  const gone = { name: "dev", outcome: "gone", left: [] };
  expect(await killTeammates(ctx, ["dev"], { timeoutMs: 1 })).toEqual([gone]);
  expect(livenessOf(process)).toBe("alive");
  expect(readTeam(ref).members).toHaveLength(2);
});
