import { livenessOf } from "../os/process/identity.ts";
import { teamTitle } from "../schema/config.ts";
import { readMetadata } from "../schema/member-metadata.ts";
import { listTeams } from "../team/config/config.ts";
import { type EndedTeam, readEndedTeams } from "../team/records/ended-teams.ts";
import { type Home, teamsHome } from "../team/ref.ts";
import type { AnyCall } from "../terminal/call.ts";
import { table } from "../terminal/table.ts";
import { textStart } from "../text/characters/cut-text.ts";
import { duration } from "../text/duration.ts";
import { localTime } from "../text/local-time.ts";
import { gridText } from "../text/terminal-text.ts";

/** Characters of a session's id in the table; `logs --session` accepts them. */
const SHORT_ID = 8;

/** Prints the ended runs and deleted teams, the newest first. */
export function listEnded({ io, out }: Pick<AnyCall, "io" | "out">): void {
  const teams = endedIn(teamsHome(io.env));
  out.answer({ teams }, () => {
    if (teams.length === 0) return "No run has ended, and no team was deleted.";
    const rows = teams.map(
      ({ name, displayName, state, endedAt, durationMs, costUsd, result, sessionId }) => [
        teamTitle({ name, displayName }),
        localTime(endedAt),
        state,
        durationMs === null ? "" : duration(Math.round(durationMs / 1000)),
        costUsd ? `$${costUsd.toFixed(2)}` : "",
        textStart(sessionId ?? "", SHORT_ID),
        gridText(result ?? ""),
      ],
    );
    const heads = ["TEAM", "ENDED", "STATE", "TIME", "COST", "SESSION", "RESULT"];
    return [
      table(heads, rows, { columns: out.columns, right: [4] }),
      "",
      "To read one: teams logs --session <session>",
    ].join("\n");
  });
}

function endedIn(home: Home) {
  const existing = new Map(
    listTeams(home).flatMap(({ config }) => {
      if (config === undefined) return [];
      // A person who takes over a team gets a new session.
      const ids = [config.leadSessionId, readMetadata(config, "formerLeadSession")];
      // A team of another program may name no session.
      return ids.flatMap((id) => (id ? [[id, config] as const] : []));
    }),
  );
  return readEndedTeams(home)
    .toReversed()
    .flatMap((ended) => {
      const config = existing.get(ended.leadSessionId);
      // The team was resumed: it has not ended.
      if (config?.leadProcess !== undefined && livenessOf(config.leadProcess) === "alive") return [];
      return [describe(ended, config === undefined ? "deleted" : "kept")];
    });
}

function describe(
  { team, displayName = team, run, leadSessionId, ...rest }: EndedTeam,
  state: "kept" | "deleted",
) {
  const { sessions, createdAt, endedAt, cwd } = rest;
  const lead = sessions.find(({ sessionId }) => sessionId === leadSessionId) ?? sessions[0];
  return {
    name: team,
    displayName,
    state,
    createdAt,
    endedAt,
    cwd,
    outcome: run?.outcome ?? null,
    result: run?.result ?? null,
    durationMs: run?.durationMs ?? null,
    tokens: run?.tokens ?? null,
    costUsd: run?.costUsd ?? null,
    /** The lead's conversation; a member's if a person led the team. */
    sessionId: lead?.sessionId ?? null,
    sessions,
  };
}
