import { isSystemError, TeamError } from "../../errors.ts";
import type { Approval } from "../../operations/approvals/approvals.ts";
import type { Env } from "../../os/env.ts";
import { openTeam, openTeams } from "../../runtime/select-team.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { agentName } from "../../schema/names.ts";
import { listTeams, type TeamEntry } from "../../team/config/config.ts";
import { type TeamRef, teamsHome } from "../../team/ref.ts";
import type { LiveKind } from "./table.ts";
import type { Candidate } from "./wanted.ts";

/** The line that is completed. */
interface AtCursor {
  /** The team that it names. */
  readonly team: string | undefined;
  /** The word at the cursor. */
  readonly last: string;
}

/** Reads names from the files of the teams. Files that cannot be read add no names. */
export async function liveNames(kind: LiveKind, env: Env, at: AtCursor): Promise<readonly Candidate[]> {
  if (kind === "teams") return teamNames(env);
  if (kind === "places") return [...agentNames(env, at), ...teamNames(env)];
  if (kind === "agents") return agentNames(env, at);
  if (kind === "recordings") return (await import("../replay/recorded-agents.ts")).recordedAgents(env, at);
  if (kind === "requests") return requestWords(env, at.team);
  const open = selectedTeam(env, at.team);
  return open === undefined ? [] : taskIds(open.ref);
}

function teamNames(env: Env): readonly Candidate[] {
  return listTeams(teamsHome(env)).map(({ team, config }) => ({
    word: team,
    about: config?.description ?? "",
  }));
}

/** Returns the members of the selected team; without one, or for a word with `@`, addresses in all teams. */
function agentNames(env: Env, { team, last }: AtCursor): readonly Candidate[] {
  const open = last.includes("@") ? undefined : selectedTeam(env, team);
  if (open !== undefined) return membersOf(open.config).map((name) => ({ word: name, about: "" }));
  const teams = listTeams(teamsHome(env)).filter(({ config, ours }) => config !== undefined && ours);
  const named = teams.flatMap((entry) => membersOf(entry.config).map((name) => ({ name, entry })));
  return named.map(({ name, entry }) => {
    const isUnique = named.filter((other) => other.name === name).length === 1;
    return {
      word: isUnique && !last.includes("@") ? name : `${name}@${entry.team}`,
      about: aboutTeam(entry),
    };
  });
}

function aboutTeam({ team }: TeamEntry): string {
  return `in ${team}`;
}

/** Returns the valid names of a team's members: no other name can be typed as a word. */
function membersOf(config: TeamConfig | undefined): readonly string[] {
  return (config?.members ?? []).flatMap(({ name }) => {
    try {
      return [agentName(name)];
    } catch (error) {
      if (error instanceof TeamError) return [];
      throw error;
    }
  });
}

function selectedTeam(
  env: Env,
  team: string | undefined,
): { readonly ref: TeamRef; readonly config: TeamConfig } | undefined {
  try {
    return openTeam(env, { team });
  } catch (error) {
    if (error instanceof TeamError) return undefined;
    throw error;
  }
}

/** Maximum task ids that a shell lists. */
const MAX_TASKS = 200;

/** Returns the tasks that are not completed; all tasks if every task is completed. */
async function taskIds(ref: TeamRef): Promise<readonly Candidate[]> {
  const { listTasks } = await import("../../team/tasks/tasks.ts");
  const all = listTasks(ref, () => undefined);
  const open = all.filter(({ status }) => status !== "completed");
  return (open.length === 0 ? all : open)
    .slice(0, MAX_TASKS)
    .map(({ id, subject, status }) => ({ word: id, about: `${status}: ${subject}` }));
}

/** Returns the members that ask, and the ids of their open requests: in the selected team, else in all teams. */
async function requestWords(env: Env, team: string | undefined): Promise<readonly Candidate[]> {
  const { listApprovals } = await import("../../operations/approvals/approvals.ts");
  const open = openTeams(env, { team }, () => undefined).flatMap(({ ref }) =>
    readable(() => listApprovals(ref)).map((request) => ({ ...request, team: ref.team })),
  );
  const askers = open.map(({ from, team: own }) =>
    open.some((other) => other.from === from && other.team !== own) ? `${from}@${own}` : from,
  );
  return [
    ...[...new Set(askers)].map((word) => ({ word, about: "its oldest request" })),
    ...open.map(({ id, kind, from, summary }) => ({ word: id, about: `${kind} of ${from}: ${summary}` })),
  ];
}

/** Returns the requests of one of several teams; none if they cannot be read. */
function readable(list: () => readonly Approval[]): readonly Approval[] {
  try {
    return list();
  } catch (error) {
    if (error instanceof TeamError || isSystemError(error)) return [];
    throw error;
  }
}
