import { expect, it } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { rootTag } from "../../../src/protocol/paths.ts";
import { markedTeam } from "../../../src/runtime/marked-team.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { createTeamFiles } from "../../../src/team/config/create-files.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

async function withTeams(names: readonly string[]): Promise<PrivateTmux> {
  const t = privateTmux();
  for (const name of names)
    await createTeamFiles(teamsHome(t.env), { name, leadSessionId: "s", leadCwd: "/", now: 1 });
  return t;
}

it("markedTeam › finds the team of a living lead in the pane, else that of the session", async () => {
  const t = await withTeams(["one", "two", "three"]);
  const { pane, session } = t.session();
  const env = t.inside(pane);
  expect(await markedTeam(env)).toBeUndefined();
  const home = teamsHome(t.env);
  const tag = `${rootTag(home.root)}/three`;
  t.tmux("set-option", "-t", session, "@teams_session", `${session}/${tag}`);
  expect(await markedTeam(env)).toBe("three");
  const [, socket = "", pid] = /^(.+),(\d+),\d+$/.exec(env.TMUX ?? "") ?? [];
  const server = { socket, pid: Number(pid), procStart: startTimeOf(Number(pid)) ?? "" };
  const lead = teamRef(home, "two");
  writeStatus(lead, LEAD_NAME, statusOf({ paneId: pane, server }));
  expect(await markedTeam(env)).toBe("two");
  writeStatus(lead, LEAD_NAME, statusOf({ paneId: pane, server, process: deadProcess() }));
  expect(await markedTeam(env)).toBe("three");
  // A copy of the option in another session does not count.
  t.tmux("set-option", "-t", session, "@teams_session", `$99/${tag}`);
  expect(await markedTeam(env)).toBeUndefined();
});

it("markedTeam › ignores marks of other roots, of missing teams and with invalid names", async () => {
  const t = await withTeams(["one", "two"]);
  const { pane } = t.session();
  const root = rootTag(teamsHome(t.env).root);
  const marked = async (team: string, of = root): Promise<string | undefined> => {
    t.tmux("set-option", "-p", "-t", pane, "@teams_team", team);
    t.tmux("set-option", "-p", "-t", pane, "@teams_root", of);
    return markedTeam(t.inside(pane));
  };
  expect(await marked("one")).toBe("one");
  expect(await marked("one", "another-root")).toBeUndefined();
  expect(await marked("gone")).toBeUndefined();
  expect(await marked("../../etc")).toBeUndefined();
});

it("markedTeam › finds no team outside tmux, for a replaced server, and if there is only one team", async () => {
  const t = await withTeams(["one"]);
  const { pane } = t.session();
  t.tmux("set-option", "-p", "-t", pane, "@teams_team", "one");
  t.tmux("set-option", "-p", "-t", pane, "@teams_root", rootTag(teamsHome(t.env).root));
  // A single team needs no mark, and no call of tmux.
  expect(await markedTeam(t.inside(pane))).toBeUndefined();
  await createTeamFiles(teamsHome(t.env), { name: "two", leadSessionId: "s", leadCwd: "/", now: 1 });
  expect(await markedTeam(t.inside(pane))).toBe("one");
  expect(await markedTeam(t.env)).toBeUndefined();
  const env = t.inside(pane);
  expect(await markedTeam({ ...env, TMUX: env.TMUX?.replace(/,\d+,/, ",1,") })).toBeUndefined();
  await t.killServer();
  expect(await markedTeam(env)).toBeUndefined();
});
