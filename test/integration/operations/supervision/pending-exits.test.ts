import { spawn } from "node:child_process";
import { expect, it, onTestFinished, vi } from "vitest";
import { untilNextExitIsOverdue } from "../../../../src/operations/supervision/pending-exits.ts";
import { reconcile } from "../../../../src/operations/supervision/reconcile.ts";
import { identityOf } from "../../../../src/os/process/identity.ts";
import { writePlace } from "../../../../src/team/records/read-records.ts";
import { writeRecord, writeStatus } from "../../../../src/team/records/write-records.ts";
import { reconcileContext } from "../../../support/team/reconcile-context.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

/** Moves the steady clock of this process. */
function steadyClock(): (ms: number) => void {
  const { bigint } = process.hrtime;
  let ahead = 0n;
  const spy = vi.spyOn(process.hrtime, "bigint").mockImplementation(() => bigint() + ahead);
  onTestFinished(() => spy.mockRestore());
  return (ms) => {
    ahead += BigInt(ms) * 1_000_000n;
  };
}

it("reconcile › reports a crash 5 s after it was seen if its launch script lives and cannot record it", async () => {
  const ref = await testTeam(["dev"]);
  const script = spawn("sleep", ["600"]);
  onTestFinished(() => void script.kill("SIGKILL"));
  const { pid, procStart } = identityOf(script.pid ?? 0) ?? deadProcess();
  writePlace(ref, "dev", {
    instance: "i",
    backend: "test",
    panePid: pid,
    paneProcStart: procStart,
    spawnedAt: 1,
  });
  writeStatus(ref, "dev", statusOf({ process: deadProcess(), instance: "i", state: "running" }));
  // The record of an earlier start is not the awaited one.
  writeRecord(ref, ref.paths.agent("dev").exit, { instance: "h", code: 1, at: 1, lastLines: [] });
  const advance = steadyClock();
  expect(await reconcile(reconcileContext(ref))).toEqual([]);
  expect(untilNextExitIsOverdue(ref)).toBeGreaterThan(4_000);
  advance(4_000);
  // Another command of this process sees the same death.
  expect(await reconcile(reconcileContext(ref))).toEqual([]);
  expect(untilNextExitIsOverdue(ref)).toBeLessThanOrEqual(1_000);
  advance(1_000);
  expect(await reconcile(reconcileContext(ref))).toMatchObject([{ name: "dev", how: "crashed" }]);
  expect(untilNextExitIsOverdue(ref)).toBeUndefined();
});
