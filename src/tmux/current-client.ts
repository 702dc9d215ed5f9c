import type { Env } from "../os/env.ts";
import { type SessionId, sessionId } from "./ids.ts";

/** Where a caller inside tmux is, as its environment says. */
export interface TmuxCaller {
  readonly socket: { readonly path: string };
  /** The process of its server: its pane's id means something there alone. */
  readonly serverPid: number;
  /** None in a popup. */
  readonly pane?: string | undefined;
  /** The session that it was started in; where its pane is now counts more. */
  readonly session?: SessionId | undefined;
}

/**
 * By `$TMUX` (`<socket>,<pid>,<session>`, where the path itself may hold commas) and `$TMUX_PANE`; undefined outside of
 * tmux.
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
