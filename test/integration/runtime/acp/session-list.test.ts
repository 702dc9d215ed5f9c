import { expect, it } from "vitest";
import { listSessions } from "../../../../src/runtime/acp/session-list.ts";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
import type { Home } from "../../../../src/team/ref.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { testHome } from "../../../support/team/test-team.ts";

const CONVERSATION = "5f0e2a6e-0000-4000-8000-000000000000";

/** Creates teams, each later than the one before. */
async function withTeams(names: readonly string[], leadCwd: string, home = testHome()): Promise<Home> {
  for (const [at, name] of names.entries())
    await createTeamFiles(home, { name, leadSessionId: CONVERSATION, leadCwd, now: 1_000_000 + at * 1_000 });
  return home;
}

it("listSessions › gives 50 teams at a time, the newest first", async () => {
  const names = Array.from({ length: 51 }, (_, at) => `team-${at}`);
  const home = await withTeams(names, "/");
  const { sessions, nextCursor } = listSessions(home, {});
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(names.slice(1).reverse());
  expect(nextCursor).toBe("50");
  expect(listSessions(home, { cursor: "50" })).toMatchObject({ sessions: [{ sessionId: "team-0" }] });
  expect(listSessions(home, { cursor: "50" }).nextCursor).toBeUndefined();
  for (const cursor of ["x", "-1", "1e3", "99999999"])
    expect(() => listSessions(home, { cursor })).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
});

it("listSessions › gives the teams of one directory", async () => {
  const cwd = temporaryDirectory();
  const home = await withTeams(["here"], cwd);
  await withTeams(["elsewhere"], "/", home);
  expect(listSessions(home, { cwd }).sessions).toMatchObject([{ sessionId: "here", cwd }]);
});
