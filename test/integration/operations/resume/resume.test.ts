import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Backend, SpawnOutcome, SpawnRequest } from "../../../../src/backend/backend.ts";
import { interruptedStart } from "../../../../src/launch/await-ready.ts";
import type { OperationContext } from "../../../../src/operations/context.ts";
import { resumeMember, resumeTeam } from "../../../../src/operations/resume/resume.ts";
import { applyPlan } from "../../../../src/operations/up/apply-plan.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { patchMember } from "../../../../src/team/members/members.ts";
import { hasStartClaim } from "../../../../src/team/members/start-claims.ts";
import { writePlace } from "../../../../src/team/records/read-records.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** Creates a team whose member `dev` has ended, and a backend whose starts end only when their signal aborts. */
async function endedMember(
  onSpawn: () => void = () => undefined,
): Promise<{ readonly ref: TeamRef; readonly ctx: OperationContext; readonly spawned: SpawnRequest[] }> {
  const ref = await testTeam(["dev"]);
  await prepareRun(ref, ["dev"]);
  writeStatus(ref, "dev", statusOf({ process: deadProcess() }));
  const spawned: SpawnRequest[] = [];
  const backend: Backend = {
    type: "process",
    spawn: async (requests) => {
      spawned.push(...requests);
      onSpawn();
      return requests.map(({ name, signal }): SpawnOutcome => {
        const error = signal?.aborted ? interruptedStart() : new Error("The signal has not aborted.");
        return { ok: false, name, error };
      });
    },
    present: async () => new Set(),
    capture: async () => undefined,
    visibleRows: async () => undefined,
    close: async () => undefined,
  };
  const backends = { choose: async () => ({ backend, why: "a test" }), of: () => backend };
  return { ref, ctx: contextOf(ref, undefined, { backends }), spawned };
}

const isClaimed = (ref: TeamRef): boolean => readTeam(ref).members.some(hasStartClaim);

describe("resume with a signal", () => {
  it.each([
    ["the team", resumeTeam],
    ["a member", (ctx: OperationContext, options: object) => resumeMember(ctx, "dev", options)],
  ])("%s › starts nothing if it has aborted", async (_what, resume) => {
    const { ref, ctx, spawned } = await endedMember();
    await expect(resume(ctx, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "INTERRUPTED",
      message: "Interrupted before the first start; nothing was started.",
    });
    expect([spawned, isClaimed(ref)]).toEqual([[], false]);
  });

  it("ends the starts that are not ready, and the next call can start the member", async () => {
    const stop = new AbortController();
    const { ref, ctx, spawned } = await endedMember(() => stop.abort());
    const failed = { name: "dev", outcome: "failed", error: { code: "INTERRUPTED" } };
    expect((await resumeTeam(ctx, { signal: stop.signal })).members).toMatchObject([failed]);
    expect(isClaimed(ref)).toBe(false);
    const next = AbortSignal.any([stop.signal]);
    await expect(resumeMember(ctx, "dev", { signal: next })).rejects.toMatchObject({ code: "INTERRUPTED" });
    const { error } = await resumeMember(ctx, "dev");
    expect(error?.message).toBe("The signal has not aborted.");
    expect(spawned).toHaveLength(2);
  });
});

it("resumeMember › releases its claim if the previous start cannot be ended", async () => {
  const { ref, ctx, spawned } = await endedMember();
  const process = deadProcess();
  const { pid: panePid, procStart: paneProcStart } = process;
  writeStatus(ref, "dev", statusOf({ process, instance: "i" }));
  writePlace(ref, "dev", { instance: "i", backend: "process", spawnedAt: 1, panePid, paneProcStart });
  const leave = (): Promise<void> => Promise.reject(new Error("no such server"));
  const backend = { ...(ctx.backends.of("process") ?? expect.fail("There is no backend.")), leave };
  const backends = { ...ctx.backends, of: () => backend };
  await expect(resumeMember({ ...ctx, backends }, "dev")).rejects.toThrow("no such server");
  expect([spawned, isClaimed(ref)]).toEqual([[], false]);
});

it("applyPlan › restarts no member after an interrupt", async () => {
  const stop = new AbortController();
  const { ref, ctx, spawned } = await endedMember(() => stop.abort());
  const nothing = { members: [], tasks: [], taskChanges: [], modes: [], budgets: [], left: [] };
  const plan = { ...nothing, isNew: false, startsLead: false, resumed: ["dev"] };
  const apply = (): Promise<unknown> =>
    applyPlan(ctx, plan, {
      ...{ spawn: { signal: stop.signal }, hooks: undefined, inputs: [] },
      costs: { isPriced: () => true, reportsOf: () => undefined },
    });
  await expect(apply()).rejects.toMatchObject({
    code: "INTERRUPTED",
    message: expect.stringMatching(/^dev could not be restarted: /),
  });
  await expect(apply()).rejects.toMatchObject({ code: "INTERRUPTED" });
  expect([spawned.length, isClaimed(ref)]).toEqual([1, false]);
});

it("resumeMember › says where a moved worktree must be, and starts nothing without it", async () => {
  const { ref, ctx, spawned } = await endedMember();
  const repository = temporaryDirectory();
  const path = join(repository, "dev tree");
  const worktree = { path, branch: "dev", base: "0".repeat(40), madeBranch: true, repository };
  await patchMember(ref, "dev", { worktreePath: path, metadata: { _worktree: worktree } });
  const { outcome, error } = await resumeMember(ctx, "dev");
  expect(outcome).toBe("failed");
  expect(error?.message).toBe(
    `dev was not restarted: its worktree is not at ${path}. Its conversation and its tasks are kept.`,
  );
  expect(error?.hint).toContain(`git -C ${repository} worktree move <its new path> '${path}' (`);
  expect(error?.hint).toContain("Then run teams resume again.");
  expect([spawned, isClaimed(ref)]).toEqual([[], false]);
  mkdirSync(path);
  expect((await resumeMember(ctx, "dev")).error?.message).toBe("The signal has not aborted.");
});
