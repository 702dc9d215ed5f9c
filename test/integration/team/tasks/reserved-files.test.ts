import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { patchMember } from "../../../../src/team/members/members.ts";
import { claimTask } from "../../../../src/team/tasks/claim-task.ts";
import { reservedReason } from "../../../../src/team/tasks/reserved-files.ts";
import { addTask, updateTask } from "../../../../src/team/tasks/update-task.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const git = (directory: string, ...args: string[]): void => {
  execFileSync("git", ["-C", directory, "-c", "user.name=t", "-c", "user.email=t@t", ...args], {
    stdio: "ignore",
  });
};

test("a running task › reserves its files from the other members, in all worktrees of its repository", async () => {
  const directory = temporaryDirectory();
  const [main, other] = [join(directory, "main"), join(directory, "other")];
  for (const repository of [main, other]) {
    mkdirSync(join(repository, "src"), { recursive: true });
    git(repository, "init");
  }
  git(main, "commit", "--allow-empty", "-m", "first");
  const tree = join(directory, "tree");
  git(main, "worktree", "add", tree);
  const ref = await testTeam(["ada", "bob"]);
  await patchMember(ref, "ada", { cwd: join(main, "src") });
  await addTask(ref, "team-lead", { subject: "x", touches: ["src/**"] });
  const reserved = (path: string, who = "bob"): string | undefined => reservedReason(ref, who, path);
  expect(reserved(join(main, "src/a.ts"))).toBeUndefined();
  await claimTask(ref, "ada", "1");
  expect(reserved(join(main, "src/new/a.ts"))).toBe(
    "src/new/a.ts is reserved (src/**) by task #1 of ada, which is in progress. Agree with ada first.",
  );
  expect(reserved(join(tree, "src/a.ts"))).toContain("by task #1 of ada");
  expect(reserved(join(main, "test/a.ts"))).toBeUndefined();
  expect(reserved(join(other, "src/a.ts"))).toBeUndefined();
  expect(reserved(join(main, "src/a.ts"), "ada")).toBeUndefined();
  await updateTask(ref, "ada", "1", { status: "completed" });
  expect(reserved(join(main, "src/a.ts"))).toBeUndefined();
});
