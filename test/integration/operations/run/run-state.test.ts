import { spawn } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import type { OperationContext } from "../../../../src/operations/context.ts";
import { isRunOver, runState } from "../../../../src/operations/run/run-state.ts";
import { identityOf, livenessOf } from "../../../../src/os/process/identity.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { reconcileContext } from "../../../support/team/reconcile-context.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

/** Gives a teammate a process that is in a turn. @returns a function that kills the process, and blocks until it is dead */
async function runningTeammate(ref: TeamRef): Promise<() => void> {
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const process = identityOf(child.pid ?? 0);
  if (process === undefined) throw new Error("The process has ended already.");
  writeStatus(ref, "dev", statusOf({ state: "running", process }));
  return () => {
    child.kill("SIGKILL");
    while (livenessOf(process) !== "dead") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  };
}

/** Calls a function before one access to the team. @returns the context, and how many accesses there were */
function withAccess(ctx: OperationContext, at: number, act: () => void) {
  let count = 0;
  const watched = new Proxy(ctx, {
    get: (target, key) => {
      if (key === "ref") {
        count += 1;
        if (count === at) act();
      }
      return Reflect.get(target, key);
    },
  });
  return { watched, count: () => count };
}

it("runState › keeps a run open when its last teammate ends at any moment of the query", async () => {
  let accesses = 1;
  for (let at = 1; at <= accesses; at += 1) {
    const ref = await testTeam(["dev"]);
    const { watched, count } = withAccess(reconcileContext(ref), at, await runningTeammate(ref));
    expect(isRunOver(runState(watched)), `its end before access ${at}`).toBe(false);
    accesses = Math.max(accesses, count());
  }
  expect(accesses).toBeGreaterThan(5);
});
