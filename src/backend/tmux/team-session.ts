import { TeamError } from "../../errors.ts";
import { belongsToPane } from "../../launch/agent-environment.ts";
import type { Env } from "../../os/env.ts";
import { COMMAND_VARIABLE } from "../../os/process/process-tree.ts";
import { attemptBatch } from "../../tmux/attempt-batch.ts";
import { escapeFormat, ifElse } from "../../tmux/command.ts";
import { type PaneId, paneId, type SessionId, sessionId } from "../../tmux/ids.ts";
import { listPanes } from "../../tmux/list-panes.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";
import type { PaneSize } from "./grid.ts";
import { leaveSession } from "./leave-session.ts";
import { newSession, ownerTag, sessionOptions, TAG } from "./pane-tags.ts";
import { DETACHED_SIZE, freeSessionName } from "./plan-panes.ts";
import { attemptCreation, explainServerEnd, refuseManualSize, WINDOW_SIZE } from "./server-options.ts";

export interface TeamSessionRequest {
  readonly team: string;
  readonly teamTitle: string;
  readonly rootTag: string;
  /** The command of its first pane: the lead. */
  readonly argv: readonly string[];
  readonly env: Env;
  /** Size of the terminal that is about to attach; 200×50 by default. */
  readonly size?: PaneSize;
}

export interface TeamSession {
  readonly name: string;
  readonly id: SessionId;
  /** The process of its server; the id is valid only on that server. */
  readonly serverPid: number;
  readonly pane: PaneId;
  /** The command that shows the session in a terminal. */
  readonly attach: readonly string[];
}

const OPENED = "teams-opened";

/**
 * Opens a detached session of the team with the lead in its first pane.
 * @throws TeamError TMUX_ERROR if tmux refuses
 */
export async function openTeamSession(server: TmuxServer, request: TeamSessionRequest): Promise<TeamSession> {
  const seen = await listPanes(server, [WINDOW_SIZE]);
  await refuseManualSize(server, seen);
  const name = freeSessionName(seen, `teams-${request.team}`);
  const variables = Object.keys(request.env).filter((key) => !belongsToPane(key) && key !== COMMAND_VARIABLE);
  const env = variables.flatMap((key) =>
    request.env[key] === undefined ? [] : ["-e", `${key}=${request.env[key]}`],
  );
  const words = [
    ...["-P", "-F", `${OPENED} #{pane_id} #{session_id} #{pid}`, "-n", escapeFormat(request.teamTitle)],
    ...[...env, "--", ...request.argv],
  ];
  const opened = newSession(name, request.size ?? DETACHED_SIZE, words);
  const result = await attemptCreation(server, [opened], seen);
  if (isNoServer(result.failure)) throw await explainServerEnd(server, result.failure);
  // A hook of the user may print other lines.
  const printed = result.lines.find((line) => line.startsWith(`${OPENED} `)) ?? "";
  const [, first, second, third] = printed.split(" ");
  const [pane, id, serverPid] = [paneId(first), sessionId(second), Number(third)];
  if (pane === undefined || id === undefined) {
    const why = result.errors.join("; ").replace(/\.$/, "") || "it gave no reason";
    throw new TeamError("TMUX_ERROR", `tmux created no session for ${request.team}: ${why}.`, {
      hint: `Nothing was started. ${(await result.advice()) ?? "Check tmux with `teams doctor`."}`,
      details: { kind: "refused", errors: result.errors },
    });
  }
  try {
    await attemptBatch(server, sessionOptions(id, ownerTag(request), variables), { serverPid });
  } catch (error) {
    throw await explainServerEnd(server, error);
  }
  const attach = ["tmux", ...server.socketArgs, "attach-session", "-t", id];
  return { name, id, serverPid, pane, attach };
}

/**
 * Tags the session of a pane with the new name of its team, if its tag has the former name. The session keeps its own name, which the user
 * has seen.
 * @throws TmuxError
 */
export async function renameTeamSession(
  server: TmuxServer,
  request: {
    readonly pane: string;
    readonly serverPid: number | undefined;
    readonly rootTag: string;
    readonly from: string;
    readonly to: string;
  },
): Promise<void> {
  const pane = paneId(request.pane);
  if (pane === undefined) return;
  const tagOf = (team: string): string => `#{session_id}/${ownerTag({ ...request, team })}`;
  const set = ["set-option", "-F", "-t", pane, TAG.session, tagOf(request.to)];
  const isTagged = `#{==:#{${TAG.session}},${tagOf(request.from)}}`;
  await attemptBatch(server, [ifElse(pane, isTagged, [set], [])], { serverPid: request.serverPid });
}

/**
 * Ends a session of the team and all processes in it. Another session that has taken its name meanwhile is not touched.
 * @throws TmuxError
 */
export async function closeTeamSession(
  server: TmuxServer,
  { id, serverPid }: Pick<TeamSession, "id" | "serverPid">,
): Promise<void> {
  try {
    await leaveSession(server, id, serverPid);
    // The batch does not throw if the session has already ended.
    await server.batch([["kill-session", "-t", id]], { serverPid });
  } catch (error) {
    if (!isNoServer(error)) throw error;
  }
}
