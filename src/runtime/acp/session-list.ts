import { randomBytes } from "node:crypto";
import type { ListSessionsRequest, ListSessionsResponse, SessionInfo } from "@agentclientprotocol/sdk";
import { TeamError } from "../../errors.ts";
import { isConversation } from "../../operations/run/take-over-lead.ts";
import { versionOf } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { isSessionId, LEAD_NAME } from "../../schema/names.ts";
import { listTeams } from "../../team/config/config.ts";
import { unreadCount } from "../../team/mailbox/receive.ts";
import { type Home, type TeamRef, teamAt } from "../../team/ref.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
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
  // The paths of teams' directories contain no links; the client gets its own spelling back.
  const directory = cwd && !cwd.includes("\0") ? realPathOf(cwd) : cwd;
  const all = listTeams(home)
    .flatMap(({ team, config, ours }) =>
      config === undefined || !ours || isEmptySession(teamAt(home, team), config)
        ? []
        : [infoOf(home, team, config)],
    )
    .filter((info) => !directory || info.cwd === directory)
    .map((info) => ({ ...info, cwd: cwd || info.cwd }))
    .sort((a, b) => (b.updatedAt ?? "").localeCompare(a.updatedAt ?? ""));
  const next = from + LIST_PAGE;
  return { sessions: all.slice(from, next), ...(next < all.length ? { nextCursor: String(next) } : {}) };
}

/** Returns the id of a new session. */
export function newSessionId(): string {
  return `acp-${randomBytes(4).toString("hex")}`;
}

const SESSION_ID = /^acp-[0-9a-f]{8}$/;

/** Whether this is the team of a session that never had a prompt, a teammate, a task or a message. */
export function isEmptySession(ref: TeamRef, { members, description, leadSessionId }: TeamConfig): boolean {
  if (!SESSION_ID.test(ref.team) || members.length > 1 || description) return false;
  // The inbox first: the lead marks its first prompt as read after it has recorded it.
  if (unreadCount(ref, LEAD_NAME) > 0 || isConversation(ref.home.root, leadSessionId)) return false;
  let hasUnreadable = false;
  const tasks = listTasks(ref, () => {
    hasUnreadable = true;
  });
  return tasks.length === 0 && !hasUnreadable;
}

function infoOf(home: Home, team: string, config: TeamConfig): SessionInfo {
  const lead = config.members.find(({ name }) => name === LEAD_NAME);
  const { leadSessionId: id, createdAt, description, displayName } = config;
  const written = isSessionId(id) ? versionOf(transcriptPath(home.root, id))?.changedMs : undefined;
  // Another program may have written any number.
  const updated = new Date(written ?? createdAt);
  return {
    sessionId: team,
    cwd: lead?.cwd ?? "/",
    title: shortened(oneLine(description || displayName || team), MAX_TITLE),
    ...(Number.isNaN(updated.getTime()) ? {} : { updatedAt: updated.toISOString() }),
  };
}
