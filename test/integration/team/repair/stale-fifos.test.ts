import { closeSync, existsSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { reconcile } from "../../../../src/operations/supervision/reconcile.ts";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { writePlace } from "../../../../src/team/records/read-records.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { removeStaleFifos, staleFifos } from "../../../../src/team/repair/stale-fifos.ts";
import { makeFifos } from "../../../../src/wakeup/fifo-bell.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { retireMember } from "../../../support/team/retire-member.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

const PLACE = { instance: "i", backend: "tmux", spawnedAt: 5 };

test("stale FIFOs › of dead members are found and removed, and no others", async () => {
  const ref = await testTeam(["dead", "alive", "silent"]);
  await prepareRun(ref, ["dead", "alive", "silent"]);
  writeStatus(ref, "dead", statusOf({ process: deadProcess() }));
  writePlace(ref, "dead", { ...PLACE, ...scriptOf(deadProcess()) });
  writeStatus(ref, "alive", statusOf());
  expect(namesOf(ref)).toEqual(["dead/bell", "dead/life", "dead/ready"]);
  expect(await removeStaleFifos(ref, "alive")).toEqual([]);
  expect(await removeStaleFifos(ref)).toHaveLength(3);
  expect(existsSync(ref.paths.agent("dead").runtime)).toBe(false);
  for (const name of ["alive", "silent"]) expect(existsSync(ref.paths.agent(name).bell)).toBe(true);
  expect(await removeStaleFifos(ref)).toEqual([]);
});

test("reconcile › removes the FIFOs of a crashed member, unless a launch script still holds its pane", async () => {
  const ref = await testTeam(["dead", "held"]);
  await prepareRun(ref, ["dead", "held"]);
  for (const name of ["dead", "held"]) {
    writeStatus(ref, name, statusOf({ process: deadProcess(), instance: name }));
    writeFileSync(ref.paths.agent(name).exit, JSON.stringify({ instance: name, code: 3, at: 1 }));
  }
  writePlace(ref, "held", { ...PLACE, instance: "held", ...scriptOf(ownIdentity()) });
  expect(await reconcile(contextOf(ref))).toHaveLength(2);
  expect(existsSync(ref.paths.agent("dead").runtime)).toBe(false);
  expect(existsSync(ref.paths.agent("held").lifeline)).toBe(true);
});

test("stale FIFOs › of a starting member are kept while it has no records yet", async () => {
  const ref = await testTeam(["dev"]);
  await prepareRun(ref, ["dev"]);
  writePlace(ref, "dev", { ...PLACE, ...scriptOf(deadProcess()) });
  expect(namesOf(ref)).toEqual([]);
});

test("stale FIFOs › of a crashed member are kept while its launch script holds the pane for the user", async () => {
  const ref = await testTeam(["dev"]);
  await prepareRun(ref, ["dev"]);
  writeStatus(ref, "dev", statusOf({ process: deadProcess() }));
  writePlace(ref, "dev", { ...PLACE, ...scriptOf(ownIdentity()) });
  expect(namesOf(ref)).toEqual([]);
});

test("stale FIFOs › of a member in another pid space are never judged (S77)", async () => {
  const ref = await testTeam(["dev"]);
  await prepareRun(ref, ["dev"]);
  const elsewhere = { ...deadProcess(), pidSpace: "container#pid:[1]" };
  writeStatus(ref, "dev", statusOf({ process: elsewhere }));
  expect(namesOf(ref)).toEqual([]);
});

test("stale FIFOs › that any process has open are kept", async () => {
  const ref = await testTeam(["dev"]);
  await prepareRun(ref, ["dev"]);
  writeStatus(ref, "dev", statusOf({ process: deadProcess() }));
  const fd = openSync(ref.paths.agent("dev").lifeline, "r+");
  onTestFinished(() => closeSync(fd));
  expect(namesOf(ref)).toEqual(["dev/bell", "dev/ready"]);
});

test("stale FIFOs › of a former member are removed, and none through a link", async () => {
  const ref = await testTeam(["dev"]);
  await prepareRun(ref, ["dev"]);
  await retireMember(ref, "dev", "killed");
  const elsewhere = join(temporaryDirectory(), "other");
  mkdirSync(elsewhere);
  await makeFifos([join(elsewhere, "bell")]);
  symlinkSync(elsewhere, join(ref.paths.runtime, "link"));
  const removed = await removeStaleFifos(ref);
  expect(removed.map(({ path, member }) => [basename(path), member])).toEqual([
    ["bell", undefined],
    ["life", undefined],
    ["ready", undefined],
  ]);
  expect(existsSync(join(elsewhere, "bell"))).toBe(true);
});

function namesOf(ref: TeamRef): string[] {
  return staleFifos(ref).map(({ path }) => `${basename(dirname(path))}/${basename(path)}`);
}

function scriptOf({ pid, procStart }: { pid: number; procStart: string }) {
  return { panePid: pid, paneProcStart: procStart };
}
