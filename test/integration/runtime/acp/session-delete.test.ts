import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { deleteAbandoned, deleteSession } from "../../../../src/runtime/acp/session-delete.ts";
import { withLock } from "../../../../src/store/lock.ts";
import { readTeam, teamExists, updateTeam } from "../../../../src/team/config/config.ts";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
import { castsDirectory } from "../../../../src/team/records/cast-directories.ts";
import { isKnownEmpty } from "../../../../src/team/records/empty-sessions.ts";
import { readEndedTeams } from "../../../../src/team/records/ended-teams.ts";
import { type Home, type TeamRef, teamsHome } from "../../../../src/team/ref.ts";
import type { AnyCall } from "../../../../src/terminal/call.ts";
import { cliIn } from "../../../support/processes/in-process-cli.ts";
import { deadProcess } from "../../../support/team/status-records.ts";
import { testHome } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

const LEAD_SESSION = "5f0e2a6e-0000-4000-8000-000000000000";

/** Creates the team of a session that never had a prompt and whose process has died. */
async function abandoned(home: Home, name: string): Promise<TeamRef> {
  const ref = await createTeamFiles(home, { name, leadSessionId: LEAD_SESSION, leadCwd: "/", now: 1_000 });
  await updateTeam(ref, (config) => ({ ...config, leadProcess: deadProcess() }));
  return ref;
}

/** Runs a deletion while another client loads the session, right before the files are removed. */
async function loadedAtTheEnd(ref: TeamRef, deletion: () => Promise<void>): Promise<void> {
  // A team with a recording is listed as ended before its files are removed.
  mkdirSync(castsDirectory(ref.home.root, LEAD_SESSION), { recursive: true });
  const deleting = await withLock(ref.paths.config, async () => {
    const all = deletion();
    await eventually("the entry of the ended team", () => readEndedTeams(ref.home).length > 0);
    writeFileSync(ref.paths.config, JSON.stringify({ ...readTeam(ref), leadProcess: ownIdentity() }));
    return [all];
  });
  await Promise.all(deleting);
}

it("deleteAbandoned › keeps a session that another client loads meanwhile", async () => {
  const { env, directory } = cliIn();
  const home = teamsHome(env);
  const [left, loaded] = [await abandoned(home, "acp-00000001"), await abandoned(home, "acp-00000002")];
  const problems: string[] = [];
  const call = { io: { env, cwd: directory, program: [] } } as unknown as AnyCall;
  // The deletion waits for the lock after it has listed the teams.
  const deleting = await withLock(join(home.root, "acp-empty-sessions.json"), async () => {
    const all = deleteAbandoned(call, (text) => problems.push(text));
    await updateTeam(loaded, (config) => ({ ...config, leadProcess: ownIdentity() }));
    return [all];
  });
  await Promise.all(deleting);
  expect(problems).toEqual([]);
  expect([left, loaded].map((ref) => teamExists(ref))).toEqual([false, true]);
  expect([left, loaded].map(({ team }) => isKnownEmpty(home, team))).toEqual([true, false]);
});

it("deleteAbandoned › keeps a session that another client loads before its files are removed", async () => {
  const { env, directory } = cliIn();
  const home = teamsHome(env);
  const ref = await abandoned(home, "acp-00000001");
  const problems: string[] = [];
  const call = { io: { env, cwd: directory, program: [] } } as unknown as AnyCall;
  await loadedAtTheEnd(ref, () => deleteAbandoned(call, (text) => problems.push(text)));
  expect(problems).toEqual([]);
  expect(teamExists(ref)).toBe(true);
  expect(isKnownEmpty(home, ref.team)).toBe(false);
});

it("deleteSession › keeps a session that another client loads before its files are removed", async () => {
  const ref = await abandoned(testHome(), "acp-00000001");
  await expect(loadedAtTheEnd(ref, () => deleteSession(contextOf(ref)))).rejects.toMatchObject({
    code: "ALREADY_LEADING",
    message: expect.stringContaining("the deletion stopped: the team and its files are kept"),
  });
  expect(teamExists(ref)).toBe(true);
});
