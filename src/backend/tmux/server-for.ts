import { withoutAgent } from "../../launch/agent-environment.ts";
import type { Env } from "../../os/env.ts";
import { tmuxCaller } from "../../tmux/caller.ts";
import { type TmuxServer, type TmuxSocket, tmuxServer } from "../../tmux/server.ts";

/** Returns the socket of the caller's server: inside tmux, that server; else `-L $TEAMS_TMUX_SOCKET`; else the user's default. */
export function callersSocket(env: Env): TmuxSocket {
  const around = tmuxCaller(env);
  if (around !== undefined) return around.socket;
  return env.TEAMS_TMUX_SOCKET ? { name: env.TEAMS_TMUX_SOCKET } : undefined;
}

/** Returns the caller's server. If a call starts it, it inherits no variables of the agent that the caller may be. */
export function callersServer(env: Env): TmuxServer {
  return tmuxServer({ socket: callersSocket(env), env: withoutAgent(env) });
}

/** Returns the server of a recorded place. @param path its socket */
export function serverAt(path: string, env: Env): TmuxServer {
  return tmuxServer({ socket: { path }, env: withoutAgent(env) });
}
