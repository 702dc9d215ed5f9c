import type { Env } from "../os/env.ts";
import { entryOf } from "../os/files/fs.ts";
import { isPidInUse } from "../os/process/identity.ts";
import { type SessionId, sessionId } from "./ids.ts";

/** The position of a caller inside tmux, from its environment. */
export interface TmuxCaller {
  readonly socket: { readonly path: string };
  /** The process id of its server; the pane's id is valid only there. */
  readonly serverPid: number;
  /** Undefined in a popup. */
  readonly pane?: string | undefined;
  /** The session that it was started in; its pane may have been moved since. */
  readonly session?: SessionId | undefined;
}

/**
 * Reads `$TMUX` (`<socket>,<pid>,<session>`; the socket's path may contain commas) and `$TMUX_PANE`. Undefined outside tmux.
 */
export function tmuxCaller(env: Env): TmuxCaller | undefined {
  const [, path, pid, session] = /^(.+),(\d+),(\d+)$/.exec(env.TMUX ?? "") ?? [];
  if (path === undefined) return undefined;
  return {
    socket: { path },
    serverPid: Number(pid),
    pane: env.TMUX_PANE,
    session: sessionId(`$${session}`),
  };
}

/** True if the process and the socket of the caller's server exist: a quick check that asks no server. */
export function seemsToRun({ serverPid, socket }: TmuxCaller): boolean {
  return isPidInUse(serverPid) && entryOf(socket.path) !== undefined;
}
