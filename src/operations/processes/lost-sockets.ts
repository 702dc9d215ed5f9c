import { basename } from "node:path";
import type { Env } from "../../os/env.ts";
import { readTeam } from "../../team/config/config.ts";
import { readPlace } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { TmuxError } from "../../tmux/error.ts";
import { hasLostSocket, lostSocket } from "../../tmux/unreachable.ts";
import type { OperationContext } from "../context.ts";

/** Returns an error for each tmux server of a team's members that runs although its socket was deleted. Reads only files. */
export function lostSocketErrors(ref: TeamRef): readonly TmuxError[] {
  const servers = readTeam(ref).members.flatMap(({ name }) => {
    const { server, pidSpace, bootId } = readPlace(ref, name) ?? {};
    return server === undefined ? [] : [{ ...server, pidSpace, bootId }];
  });
  const lost = servers.filter((server) => hasLostSocket(server.socket, server));
  return [...new Map(lost.map((server) => [server.pid, lostSocket(server, server.socket)])).values()];
}

/**
 * Refuses to start a second tmux server at the socket of one whose socket was deleted: the first could never be reached again.
 * @throws TmuxError
 */
export function requireSocket({ ref, env }: Pick<OperationContext, "ref" | "env">): void {
  // Inside tmux, the driver knows the process of the server.
  if (env.TMUX) return;
  const error = lostSocketErrors(ref).find(
    ({ details }) => basename(String(details?.socket)) === socketName(env),
  );
  if (error !== undefined) throw error;
}

function socketName({ TEAMS_TMUX_SOCKET: name }: Env): string {
  return name || "default";
}
