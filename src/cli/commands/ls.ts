import { type TeamState, type TeamSummary, teamOverview } from "../../operations/team-summary.ts";
import { systemClock } from "../../os/clock.ts";
import { teamTitle } from "../../schema/config.ts";
import { listTeams } from "../../team/config/config.ts";
import { teamsHome } from "../../team/ref.ts";
import type { Output, TextStyle } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import { shortAge } from "../../text/age.ts";
import { costText } from "../../text/amounts.ts";
import { homePath } from "../../text/home-path.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "ls",
  ignoresTeamOptions: true,
  summary: "List all teams: what they do, where, and what is waiting for you",
  args: [],
  options: {
    ended: { summary: "list the ended runs and deleted teams whose conversations can still be read" },
  },
  examples: ["teams ls", "teams ls --json", "teams ls --ended"],
  async run(call) {
    const { io, options, out } = call;
    if (options.ended) {
      const { listEnded } = await import("../list-ended.ts");
      return listEnded(call);
    }
    const home = teamsHome(io.env);
    const teams = listTeams(home).map((entry): TeamSummary => {
      const { requests: _, ...summary } = teamOverview(home, entry);
      return summary;
    });
    out.answer({ teams }, () => teamTable(teams, io.env.HOME, out));
  },
});

const STATE_STYLES: Readonly<Record<TeamState, readonly TextStyle[]>> = {
  running: ["good"],
  idle: [],
  stopped: ["quiet"],
  unknown: ["quiet"],
};

function teamTable(teams: readonly TeamSummary[], home: string | undefined, out: Output): string {
  if (teams.length === 0) {
    return 'No teams yet. Try: teams run "review this repository", or: teams create <name>';
  }
  const now = systemClock.now();
  const paid = teams.some(({ costUsd }) => costUsd > 0);
  const rows = teams.map((team) => [
    team.ours ? teamTitle(team) : out.styleText(teamTitle(team), "quiet"),
    team.ours ? out.styleText(team.state, ...STATE_STYLES[team.state]) : "",
    team.members.length,
    team.waiting === 0 ? "" : out.styleText(String(team.waiting), "bold", "attention"),
    ...(paid ? [costText(team.costUsd)] : []),
    team.createdAt === null ? "" : shortAge(now - Date.parse(team.createdAt)),
    team.directory === null ? "" : homePath(team.directory, home),
    remark(team),
  ]);
  const headings = [
    "TEAM",
    "STATE",
    "MEMBERS",
    "WAITS",
    ...(paid ? ["COST"] : []),
    "AGE",
    "DIRECTORY",
    "ABOUT",
  ];
  return table(headings, rows, {
    columns: out.columns,
    right: paid ? [2, 3, 4, 5] : [2, 3, 4],
    spare: ["MEMBERS", "AGE"],
  });
}

function remark(team: TeamSummary): string {
  if (team.problem !== null) return team.problem;
  return [team.ours ? "" : "(created by another program)", team.description ?? ""]
    .filter((part) => part !== "")
    .join(" ");
}
