import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { withWorktreeEnds } from "../../../../src/operations/ending/worktree-report.ts";
import { createWorktree } from "../../../../src/operations/worktrees/create-worktree.ts";
import type { Ending } from "../../../../src/schema/ending.ts";
import { withMetadata, worktreeOf } from "../../../../src/schema/member-metadata.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { findMember, removeMember } from "../../../../src/team/members/members.ts";
import { GIT_IDENTITY, git } from "../../../support/files/git.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { livingProcess } from "../../../support/processes/living-process.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** Creates a team whose members each had a worktree, and have left. */
async function afterTheEnd(...names: string[]) {
  const repository = realpathSync(temporaryDirectory());
  git(repository, "init", "--quiet", "--initial-branch=main");
  git(repository, "commit", "--quiet", "--allow-empty", "--message", "first");
  const ref = await testTeam(names);
  const ctx = contextOf(ref, undefined, { env: GIT_IDENTITY, cwd: repository });
  for (const name of names) {
    await createWorktree(ctx, { ...findMember(readTeam(ref), name), cwd: repository }, {}, {});
  }
  const before = readTeam(ref).members;
  for (const name of names) await removeMember(ref, name);
  const recordOf = (name: string) => worktreeOf(before.find((member) => member.name === name) ?? {});
  const pathOf = (name: string): string => recordOf(name)?.path ?? "";
  const ends = async (...reports: { name: string; outcome: string; left?: number[] }[]) =>
    (await withWorktreeEnds(ctx, before, reports)).map(({ name, worktree }) => [name, worktree?.kept]);
  return { ref, ends, recordOf, pathOf };
}

describe("withWorktreeEnds", () => {
  test("reports for each member whether its worktree was removed or kept, and why", async () => {
    const { ends, pathOf } = await afterTheEnd("clean", "dirty", "both");
    writeFileSync(join(pathOf("dirty"), "new.txt"), "new\\n");
    writeFileSync(join(pathOf("both"), "a.txt"), "new\\n");
    writeFileSync(join(pathOf("both"), "b.txt"), "new\\n");
    const reports = ["clean", "dirty", "team-lead", "both"].map((name) => ({ name, outcome: "ended" }));
    expect(await ends(...reports)).toEqual([
      ["clean", null],
      ["dirty", "1 untracked file"],
      ["team-lead", undefined],
      ["both", "2 untracked files"],
    ]);
    expect(["clean", "dirty", "both"].map((name) => existsSync(pathOf(name)))).toEqual([false, true, true]);
  });

  test("leaves a worktree to the process that still handles the end of its member", async () => {
    const { ref, ends, recordOf, pathOf } = await afterTheEnd("slow");
    const by = await livingProcess();
    const claimed = { by, at: Date.now(), tries: 1, worktree: recordOf("slow") };
    const ending: Ending = { id: "x", name: "slow", how: "killed", news: "", tasks: [], ...claimed };
    await updateTeam(ref, (config) => withMetadata(config, { endings: [ending] }));
    // The time that the report waits for that process passes at once.
    let seconds = 0n;
    const spy = vi.spyOn(process.hrtime, "bigint").mockImplementation(() => {
      seconds += 60n;
      return seconds * 1_000_000_000n;
    });
    onTestFinished(() => spy.mockRestore());
    const kept = `process ${by.pid} still handles the end of slow`;
    expect(await ends({ name: "slow", outcome: "shut-down" })).toEqual([["slow", kept]]);
    expect(existsSync(pathOf("slow"))).toBe(true);
  });

  test("keeps the worktree of every member whose processes may still run", async () => {
    const { ends, pathOf } = await afterTheEnd("far", "stuck", "gone");
    const kept = "processes that were started in it may still run";
    expect(
      await ends(
        { name: "far", outcome: "out-of-reach" },
        { name: "stuck", outcome: "ended", left: [4711] },
        { name: "gone", outcome: "gone", left: [] },
      ),
    ).toEqual([
      ["far", kept],
      ["stuck", kept],
      ["gone", null],
    ]);
    expect(["far", "stuck", "gone"].map((name) => existsSync(pathOf(name)))).toEqual([true, true, false]);
  });
});
