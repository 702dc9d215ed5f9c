import type { ListSessionsRequest, ListSessionsResponse, SessionInfo } from "@agentclientprotocol/sdk";
import { TeamError } from "../../errors.ts";
import { versionOf } from "../../os/files/fs.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { isSessionId, LEAD_NAME } from "../../schema/names.ts";
import { listTeams } from "../../team/config/config.ts";
import type { Home } from "../../team/ref.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { LIST_PAGE, MAX_TITLE } from "./limits.ts";
import { oneLine } from "./tool-call.ts";

/**
 * Lists the teams of this root as sessions, the newest first.
 * @throws TeamError INVALID_INPUT for a cursor of another list
 */
export function listSessions(home: Home, { cwd, cursor }: ListSessionsRequest): ListSessionsResponse {
  const from = cursor ? Number(/^\d{1,6}$/.test(cursor) ? cursor : Number.NaN) : 0;
  if (Number.isNaN(from))
    throw new TeamError("INVALID_INPUT", `${JSON.stringify(cursor)} is not a cursor of this list.`, {
      hint: "List the sessions without a cursor.",
    });
  const all = listTeams(home)
    .flatMap(({ team, config, ours }) => (config === undefined || !ours ? [] : [infoOf(home, team, config)]))
    .filter((info) => !cwd || info.cwd === cwd)
    .sort((a, b) => (b.updatedAt ?? "").localeCompare(a.updatedAt ?? ""));
  const next = from + LIST_PAGE;
  return { sessions: all.slice(from, next), ...(next < all.length ? { nextCursor: String(next) } : {}) };
}

function infoOf(home: Home, team: string, config: TeamConfig): SessionInfo {
  const lead = config.members.find(({ name }) => name === LEAD_NAME);
  const { leadSessionId: id, createdAt, description, displayName } = config;
  const written = isSessionId(id) ? versionOf(transcriptPath(home.root, id))?.changedMs : undefined;
  return {
    sessionId: team,
    cwd: lead?.cwd ?? "/",
    title: shortened(oneLine(description || displayName || team), MAX_TITLE),
    updatedAt: new Date(written ?? createdAt).toISOString(),
  };
}
