import { join } from "node:path";
import { createTeamFiles, type NewTeam } from "../../../src/team/config/create-files.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import type { Home, TeamRef } from "../../../src/team/ref.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";

/** Creates a private home for one test. */
export function testHome(): Home {
  const directory = temporaryDirectory("tt-home-");
  return { root: join(directory, "root"), runtime: join(directory, "root", "runtime") };
}

/** Creates a team with some members in a private home. */
export async function testTeam(
  members: readonly string[] = [],
  input: Partial<NewTeam> = {},
): Promise<TeamRef> {
  const ref = await createTeamFiles(testHome(), {
    name: "crew",
    leadSessionId: "5f0e2a6e-0000-4000-8000-000000000000",
    leadCwd: "/",
    now: 1_000,
    ...input,
  });
  await addMembers(
    ref,
    members.map((name) => ({ name, cwd: "/" })),
  );
  return ref;
}
