import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OperationContext } from "../../../src/operations/context.ts";
import { createWorktree } from "../../../src/operations/worktrees/create-worktree.ts";
import { worktreeOf } from "../../../src/schema/member-metadata.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { findMember } from "../../../src/team/members/members.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { GIT_IDENTITY, git } from "../files/git.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";
import { contextOf } from "../worker/start-worker.ts";
import { testTeam } from "./test-team.ts";

export interface LandingTeam {
  readonly ref: TeamRef;
  /** The context of the lead, in the repository. */
  readonly ctx: OperationContext;
  /** Its branch `main` has the file `shared.txt` with the lines one, two and three. */
  readonly repository: string;
  /** Returns the worktree of a member. */
  worktree(name: string): string;
  /** Writes a file in a directory and commits everything there. @returns the commit */
  commit(directory: string, file: string, text: string): string;
}

export const SHARED = "one\ntwo\nthree\n";

/** Creates a repository, and a team whose members have worktrees in it and no process. */
export async function landingTeam(names: readonly string[]): Promise<LandingTeam> {
  const repository = createRepository(realpathSync(temporaryDirectory()));
  const ref = await testTeam(names);
  const ctx = contextOf(ref, undefined, { env: GIT_IDENTITY, cwd: repository });
  for (const name of names)
    await createWorktree(ctx, { ...findMember(readTeam(ref), name), cwd: repository }, {}, {});
  return {
    ref,
    ctx,
    repository,
    worktree: (name) => worktreeOf(findMember(readTeam(ref), name))?.path ?? "",
    commit: commitFile,
  };
}

/** Creates a repository in a directory, with a first commit on `main`. */
export function createRepository(directory: string): string {
  git(directory, "init", "--quiet", "--initial-branch=main");
  commitFile(directory, "shared.txt", SHARED);
  return directory;
}

export function commitFile(directory: string, file: string, text: string): string {
  writeFileSync(join(directory, file), text);
  git(directory, "add", "--all", "--", file);
  git(directory, "commit", "--quiet", "--message", `Change ${file}`);
  return git(directory, "rev-parse", "HEAD");
}
