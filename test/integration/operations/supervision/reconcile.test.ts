import { expect, it } from "vitest";
import { reconcile } from "../../../../src/operations/supervision/reconcile.ts";
import type { Liveness, RecordedProcess } from "../../../../src/os/process/identity.ts";
import { LivenessCache } from "../../../../src/os/process/liveness-cache.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { reconcileContext } from "../../../support/team/reconcile-context.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

it("reconcile › removes a member that agrees to stop and ends while it is judged", async () => {
  const ref = await testTeam(["dev"]);
  const idle = statusOf({ process: deadProcess(), instance: "i", state: "idle" });
  writeStatus(ref, "dev", idle);
  class LastWrite extends LivenessCache {
    override of(record: RecordedProcess): Liveness {
      writeStatus(ref, "dev", { ...idle, state: "exited", agreedToStop: true });
      return super.of(record);
    }
  }
  const ctx = reconcileContext({ ...ref, livenessCache: new LastWrite() });
  expect(await reconcile(ctx)).toEqual([{ name: "dev", how: "shutdown", exit: null }]);
  expect(readTeam(ref).members.map(({ name }) => name)).toEqual(["team-lead"]);
});
