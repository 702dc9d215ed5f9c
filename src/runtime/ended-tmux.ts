import { callersServer } from "../backend/tmux/server-for.ts";
import type { Env } from "../os/env.ts";
import { entryOf } from "../os/files/fs.ts";
import { tmuxCaller } from "../tmux/caller.ts";
import { isNoServer } from "../tmux/server.ts";
import { hasLostSocket } from "../tmux/unreachable.ts";

/**
 * Returns the socket of the server that `$TMUX` names if that server has ended: a shell that outlived it is outside tmux, and a call
 * would start a new server at that socket, or use a later one. Asks the socket, because the process of a living server may be
 * invisible in a container.
 */
export async function endedTmux(env: Env): Promise<string | undefined> {
  const caller = tmuxCaller(env);
  if (caller === undefined) return undefined;
  const { path } = caller.socket;
  if (entryOf(path) === undefined) return hasLostSocket(path, { pid: caller.serverPid }) ? undefined : path;
  try {
    // A server in another container has another pid here, so compare its own answer with $TMUX. A user's hook can print more lines.
    const answer = await callersServer(env).call(["display-message", "-p", "#{pid}"]);
    return Number.parseInt(answer, 10) === caller.serverPid ? undefined : path;
  } catch (error) {
    // A server that hangs or refuses is running; a command that needs it reports the problem.
    return isNoServer(error) ? path : undefined;
  }
}
