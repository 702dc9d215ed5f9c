import type { Env } from "../os/env.ts";
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
