import { teamTitle } from "../../schema/config.ts";
import { listTeams } from "../../team/config/config.ts";
import { teamsHome } from "../../team/ref.ts";
import { table } from "../../terminal/table.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "ls",
  ignoresTeamOptions: true,
  summary: "List all teams",
  args: [],
  options: {},
  examples: ["teams ls", "teams ls --json"],
  async run({ io, out }) {
    const teams = listTeams(teamsHome(io.env)).map(({ team, config, ours, flaw }) => ({
      name: team,
      displayName: config?.displayName ?? team,
      description: config?.description ?? null,
      members: config?.members.map((member) => member.name) ?? [],
      createdAt: config?.createdAt ?? null,
      ours,
      flaw: flaw ?? null,
    }));
    out.answer({ teams }, () => {
      if (teams.length === 0) {
        return 'No teams yet. Try: teams run "review this repository", or: teams create <name>';
      }
      const rows = teams.map((team) => [
        team.ours ? teamTitle(team) : out.styleText(teamTitle(team), "quiet"),
        team.members.length,
        team.createdAt ? new Date(team.createdAt).toISOString().slice(0, 16).replace("T", " ") : "",
        remark(team),
      ]);
      return table(["TEAM", "MEMBERS", "CREATED (UTC)", "ABOUT"], rows, { columns: out.columns, right: [1] });
    });
  },
});

function remark(team: {
  readonly ours: boolean;
  readonly flaw: string | null;
  readonly description: string | null;
}): string {
  if (team.flaw !== null) return team.flaw;
  return [team.ours ? "" : "(created by another program)", team.description ?? ""]
    .filter((part) => part !== "")
    .join(" ");
}
