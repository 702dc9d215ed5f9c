import type { Env } from "../os/env.ts";
import { ownIdentity, startTimeOf } from "../os/process/identity.ts";
import { ownParent, parentOf } from "../os/process/process-table.ts";
import { transcriptPath } from "../protocol/paths.ts";
import type { StatusRecord } from "../schema/status.ts";
import type { TeamRef } from "../team/ref.ts";

/** The part of an agent's status record that is the same for every backend. */
export function ownFacts(
  { home, paths }: TeamRef,
  name: string,
  sessionId: string,
): Pick<StatusRecord, "sessionId" | "transcript" | "process" | "bell" | "lifeline"> {
  const { bell, lifeline } = paths.agent(name);
  const transcript = transcriptPath(home.root, sessionId);
  return { sessionId, transcript, process: ownIdentity(), bell, lifeline };
}

/** The tmux pane of this process and its server; empty outside tmux. */
export function ownPane({ TMUX, TMUX_PANE }: Env): Pick<StatusRecord, "paneId" | "server"> {
  // `socket,pid,session`; a socket's path may contain commas.
  const [, socket, pid] = /^(.+),(\d+),\d+$/.exec(TMUX ?? "") ?? [];
  const procStart = startTimeOf(Number(pid));
  // If the server is gone, so is the pane, and another pane may have its id.
  if (TMUX_PANE === undefined || socket === undefined || procStart === undefined) return {};
  return { paneId: TMUX_PANE, server: { socket, pid: Number(pid), procStart } };
}

/** Like {@link ownPane} for a teammate, plus the pane's own process: the launch script, which is the parent of this process's parent. */
export function ownPlace(env: Env): Pick<StatusRecord, "paneId" | "server" | "panePid" | "paneProcStart"> {
  const pane = ownPane(env);
  const panePid = pane.paneId === undefined ? undefined : parentOf(ownParent);
  if (panePid === undefined) return pane;
  return { ...pane, panePid, paneProcStart: startTimeOf(panePid) ?? "" };
}
