import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { transcriptPath } from "../../../../src/protocol/paths.ts";
import { isEmptySession, listSessions } from "../../../../src/runtime/acp/session-list.ts";
import { isSessionId, LEAD_NAME } from "../../../../src/schema/names.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import type { Home } from "../../../../src/team/ref.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { peerTakes } from "../../../support/team/foreign-peer.ts";
import { testHome, testTeam } from "../../../support/team/test-team.ts";

const CONVERSATION = "5f0e2a6e-0000-4000-8000-000000000000";

/** Creates teams, each later than the one before. */
async function withTeams(names: readonly string[], leadCwd: string, home = testHome()): Promise<Home> {
  for (const [at, name] of names.entries())
    await createTeamFiles(home, { name, leadSessionId: CONVERSATION, leadCwd, now: 1_000_000 + at * 1_000 });
  return home;
}

it("listSessions › returns 50 teams at a time, the newest first", async () => {
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

it("listSessions › returns the teams of one directory", async () => {
  const cwd = temporaryDirectory();
  const home = await withTeams(["here"], cwd);
  await withTeams(["elsewhere"], "/", home);
  expect(listSessions(home, { cwd }).sessions).toMatchObject([{ sessionId: "here", cwd }]);
});

it("isEmptySession › is false while the lead records its first prompt and marks it as read", async () => {
  const ref = await testTeam([], { name: "acp-0123abcd", leadSessionId: CONVERSATION });
  const config = readTeam(ref);
  expect(isEmptySession(ref, config)).toBe(true);
  await sendMessage(ref, { from: "user", to: LEAD_NAME, text: "the first prompt" });
  const acceptPrompt = (): void => {
    if (!isSessionId(CONVERSATION)) throw new Error("not a session id");
    const transcript = transcriptPath(ref.home.root, CONVERSATION);
    mkdirSync(dirname(transcript), { recursive: true });
    writeFileSync(transcript, "");
    peerTakes(ref, LEAD_NAME, "marks");
  };
  // The lead accepts the prompt just before its inbox is read.
  const racing = {
    ...ref,
    get paths() {
      acceptPrompt();
      return ref.paths;
    },
  };
  expect(isEmptySession(racing, config)).toBe(false);
});
