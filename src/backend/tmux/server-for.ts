import { withoutAgent } from "../../launch/agent-environment.ts";
import type { Env } from "../../os/env.ts";
import { tmuxCaller } from "../../tmux/current-client.ts";
import { type TmuxServer, type TmuxSocket, tmuxServer } from "../../tmux/server.ts";

/**
 * The server that a caller means: inside tmux the one it is in, else `-L $TEAMS_TMUX_SOCKET`, else the user's default.
 */
export function callersSocket(env: Env): TmuxSocket {
  const around = tmuxCaller(env);
  if (around !== undefined) return around.socket;
  return env.TEAMS_TMUX_SOCKET ? { name: env.TEAMS_TMUX_SOCKET } : undefined;
}

/** The server that a caller means. One that it starts inherits nothing of the agent that the caller may be. */
export function callersServer(env: Env): TmuxServer {
  return tmuxServer({ socket: callersSocket(env), env: withoutAgent(env) });
}

/** The server of a place that was written down. */
export function serverAt(path: string, env: Env): TmuxServer {
  return tmuxServer({ socket: { path }, env: withoutAgent(env) });
}
