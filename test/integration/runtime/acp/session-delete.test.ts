import { join } from "node:path";
import { expect, it } from "vitest";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { deleteAbandoned } from "../../../../src/runtime/acp/session-delete.ts";
import { withLock } from "../../../../src/store/lock.ts";
import { teamExists, updateTeam } from "../../../../src/team/config/config.ts";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
import { isKnownEmpty } from "../../../../src/team/records/empty-sessions.ts";
import { teamsHome } from "../../../../src/team/ref.ts";
import type { AnyCall } from "../../../../src/terminal/call.ts";
import { cliIn } from "../../../support/processes/in-process-cli.ts";
import { deadProcess } from "../../../support/team/status-records.ts";

it("deleteAbandoned › keeps a session that another client loads meanwhile", async () => {
  const { env, directory } = cliIn();
  const home = teamsHome(env);
  const session = async (name: string) => {
    const leadSessionId = "5f0e2a6e-0000-4000-8000-000000000000";
    const ref = await createTeamFiles(home, { name, leadSessionId, leadCwd: directory, now: 1_000 });
    await updateTeam(ref, (config) => ({ ...config, leadProcess: deadProcess() }));
    return ref;
  };
  const [left, loaded] = [await session("acp-00000001"), await session("acp-00000002")];
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
