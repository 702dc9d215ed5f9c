import { TeamError } from "../../errors.ts";
import { undecidedTeams } from "../../runtime/select-team.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { listTeams, type TeamEntry } from "../../team/config/config.ts";
import { teamsHome } from "../../team/ref.ts";
import type { Io } from "../../terminal/io.ts";
import { homePath } from "../../text/home-path.ts";
import { optionWords } from "../../text/shell-quote.ts";
import { pickOnTerminal } from "./pick-on-terminal.ts";

/**
 * Lets the person pick the team if a command could not decide between several.
 * @param error that the command threw before it changed anything
 * @returns the team; undefined if the error is another one, or if there is no terminal
 * @throws TeamError INTERRUPTED if the person cancels
 */
export async function pickTeam(error: unknown, io: Io): Promise<string | undefined> {
  const teams = undecidedTeams(error);
  const [first] = teams;
  if (first === undefined) return undefined;
  const entries = listTeams(teamsHome(io.env)).filter(({ team }) => teams.includes(team));
  const choices = entries.map((entry) => ({ word: entry.team, about: aboutTeam(entry, io.env.HOME) }));
  const at = await pickOnTerminal(io, "Which team?", choices);
  if (at === null) return undefined;
  const picked = at === undefined ? undefined : entries[at];
  if (picked !== undefined) return picked.team;
  throw new TeamError("INTERRUPTED", "No team was selected; nothing was done.", {
    hint: `Name the team: ${optionWords("--team", first)}`,
  });
}

/** `3 teammates, ~/src/app`. */
function aboutTeam({ config }: TeamEntry, home: string | undefined): string {
  const members = config?.members ?? [];
  const { length } = members.filter(({ name }) => name !== LEAD_NAME);
  const { cwd = "" } = members.find(({ name }) => name === LEAD_NAME) ?? members[0] ?? {};
  return [length === 1 ? "1 teammate" : `${length} teammates`, homePath(cwd, home)]
    .filter(Boolean)
    .join(", ");
}
