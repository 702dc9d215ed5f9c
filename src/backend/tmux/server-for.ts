import { withoutAgent } from "../../launch/agent-environment.ts";
import type { Env } from "../../os/env.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { tmuxCaller } from "../../tmux/caller.ts";
import { type TmuxServer, type TmuxSocket, tmuxServer } from "../../tmux/server.ts";

/** Returns the socket of the caller's server: inside tmux, its own server; else `-L $TEAMS_TMUX_SOCKET`; else the user's default server. */
export function callersSocket(env: Env): TmuxSocket {
  const caller = tmuxCaller(env);
  if (caller !== undefined) return caller.socket;
  return env.TEAMS_TMUX_SOCKET ? { name: env.TEAMS_TMUX_SOCKET } : undefined;
}

/** Returns the caller's server. If a call starts the server and the caller is an agent, the server inherits no variables of the agent. */
export function callersServer(env: Env): TmuxServer {
  const caller = tmuxCaller(env);
  const process = caller && { pid: caller.serverPid };
  return tmuxServer({ socket: callersSocket(env), process, env: withoutAgent(env) });
}

type ServerRecord = NonNullable<PlaceRecord["server"]>;

/** A server as a record names it: its socket and, if known, its process. */
export type RecordedServer = Pick<ServerRecord, "socket"> & Partial<ServerRecord>;

/** Returns the server of a recorded place. */
export function serverAt({ socket: path, pid, procStart }: RecordedServer, env: Env): TmuxServer {
  const process = pid === undefined ? undefined : { pid, procStart };
  return tmuxServer({ socket: { path }, process, env: withoutAgent(env) });
}
