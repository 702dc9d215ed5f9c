import { withoutAgent } from "../../launch/agent-environment.ts";
import type { Env } from "../../os/env.ts";
import type { PlaceRecord } from "../../schema/status.ts";
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
  const around = tmuxCaller(env);
  const process = around && { pid: around.serverPid };
  return tmuxServer({ socket: callersSocket(env), process, env: withoutAgent(env) });
}

type ServerRecord = NonNullable<PlaceRecord["server"]>;

/** A server as a record names it: its socket, and its process if that is known. */
export type RecordedServer = Pick<ServerRecord, "socket"> & Partial<ServerRecord>;

/** Returns the server of a recorded place. */
export function serverAt({ socket: path, pid, procStart }: RecordedServer, env: Env): TmuxServer {
  const process = pid === undefined ? undefined : { pid, procStart };
  return tmuxServer({ socket: { path }, process, env: withoutAgent(env) });
}
