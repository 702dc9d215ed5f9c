import { entryOf } from "../../os/files/fs.ts";
import type { RecordedProcess } from "../../os/process/identity.ts";
import type { AgentRecords } from "../../team/members/judge-liveness.ts";
import type { TmuxError } from "../../tmux/error.ts";

type PaneRecords = Pick<AgentRecords, "place" | "status">;

/**
 * Returns an error for each tmux server of these members that runs although its socket was deleted. Asks no server, and loads the
 * code for it only if a socket is missing.
 */
export async function lostSocketErrors(records: readonly PaneRecords[]): Promise<readonly TmuxError[]> {
  const servers = records.flatMap(serverOf).filter(({ socket }) => entryOf(socket) === undefined);
  if (servers.length === 0) return [];
  const { hasLostSocket, lostSocket } = await import("../../tmux/unreachable.ts");
  const lost = servers.filter((server) => hasLostSocket(server.socket, server));
  return [...new Map(lost.map((server) => [server.pid, lostSocket(server, server.socket)])).values()];
}

/** Returns the server of a member's pane, if it has one; a lead has no place. */
function serverOf({ place, status }: PaneRecords): (RecordedProcess & { readonly socket: string })[] {
  const { server } = place ?? status ?? {};
  if (server === undefined) return [];
  const { pidSpace, bootId } = place ?? status?.process ?? {};
  return [{ ...server, pidSpace, bootId }];
}
