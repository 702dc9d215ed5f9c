import { actualPosition, POSITION_OPTIONS } from "../backend/tmux/caller-position.ts";
import { isInOurSession, ownerTag, TAG } from "../backend/tmux/pane-tags.ts";
import { callersServer } from "../backend/tmux/server-for.ts";
import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { livenessOf } from "../os/process/identity.ts";
import { rootTag } from "../protocol/paths.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { listTeams, type TeamEntry } from "../team/config/config.ts";
import { teamsCalled } from "../team/config/find-team.ts";
import { readStatus } from "../team/records/read-records.ts";
import { type Home, teamAt, teamsHome } from "../team/ref.ts";
import { tmuxCaller } from "../tmux/caller.ts";
import { listPanes, type TmuxPane } from "../tmux/list-panes.ts";

const MARKS = [TAG.team, TAG.root, TAG.sidebar, TAG.session, ...POSITION_OPTIONS];

/**
 * Returns the team to which the caller's tmux pane belongs: by the mark of the pane or of its window, by a lead that runs in it, by
 * the mark of its session, else the only team with a pane in the same window. Calls tmux once, and only if there are several teams.
 * @returns undefined outside tmux, without a mark, and if tmux does not answer: then the other rules select the team
 */
export async function markedTeam(env: Env): Promise<string | undefined> {
  const caller = tmuxCaller(env);
  if (caller?.pane === undefined) return undefined;
  const home = teamsHome(env);
  const teams = listTeams(home);
  if (teams.length < 2) return undefined;
  const seen = await panesOf(env);
  const position = { callerPane: caller.pane, callerServer: caller.serverPid };
  const { callerPane } = seen === undefined ? {} : actualPosition(seen, position);
  const pane = seen?.panes.find(({ id }) => id === callerPane);
  if (seen === undefined || pane === undefined) return undefined;
  const root = rootTag(home.root);
  return (
    teamOfMark(teams, markOf(pane, root)) ??
    teamLedIn(home, teams, pane.id, caller.serverPid) ??
    sessionTeam(teams, pane, root) ??
    neighbourTeam(teams, seen.panes, pane, root)
  );
}

async function panesOf(env: Env): Promise<Awaited<ReturnType<typeof listPanes>> | undefined> {
  try {
    return await listPanes(callersServer(env), MARKS);
  } catch (error) {
    // A command on files must work even if tmux hangs or is too old; a command that needs tmux reports it.
    if (error instanceof TeamError) return undefined;
    throw error;
  }
}

/** Returns the team in the mark of a pane, or in the mark of its window, which tmux shows for each of its panes. */
function markOf({ options }: TmuxPane, root: string): string | undefined {
  const [team = "", sidebar = ""] = [options[TAG.team], options[TAG.sidebar]];
  if (team !== "" && options[TAG.root] === root) return team;
  return sidebar.startsWith(`${root}/`) ? sidebar.slice(root.length + 1) : undefined;
}

/** Returns the directory name of a marked team; undefined if the team is gone. The mark may be a former name of the team. */
function teamOfMark(teams: readonly TeamEntry[], mark: string | undefined): string | undefined {
  const [team, ...others] = mark === undefined ? [] : teamsCalled(teams, mark);
  return others.length === 0 ? team : undefined;
}

/** Returns the team whose living lead has this pane. */
function teamLedIn(
  home: Home,
  teams: readonly TeamEntry[],
  pane: string,
  serverPid: number,
): string | undefined {
  return teams.find(({ team }) => {
    const status = readStatus(teamAt(home, team), LEAD_NAME);
    const isHere = status?.paneId === pane && status.server?.pid === serverPid;
    return isHere && livenessOf(status.process) === "alive";
  })?.team;
}

function sessionTeam(teams: readonly TeamEntry[], pane: TmuxPane, root: string): string | undefined {
  return teams.find(({ team }) => isInOurSession(pane, ownerTag({ rootTag: root, team })))?.team;
}

function neighbourTeam(
  teams: readonly TeamEntry[],
  panes: readonly TmuxPane[],
  { window }: TmuxPane,
  root: string,
): string | undefined {
  const marks = panes
    .filter((pane) => pane.window === window)
    .map((pane) => teamOfMark(teams, markOf(pane, root)));
  const [first, ...others] = new Set(marks.filter((mark) => mark !== undefined));
  return others.length === 0 ? first : undefined;
}
