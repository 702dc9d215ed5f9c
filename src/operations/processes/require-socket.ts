import { callersSocket } from "../../backend/tmux/server-for.ts";
import { entryOf } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { listTeams } from "../../team/config/config.ts";
import { memberRecords } from "../../team/members/member-records.ts";
import { teamAt } from "../../team/ref.ts";
import { socketPath } from "../../tmux/socket-path.ts";
import type { OperationContext } from "../context.ts";
import { lostSocketErrors } from "./lost-sockets.ts";

/**
 * Refuses to start a tmux server at the deleted socket of a running server, which could then never be reached again. Reads the records
 * of all teams, but only if the caller's server has no socket.
 * @throws TmuxError
 */
export async function requireSocket({ home, env }: Pick<OperationContext, "home" | "env">): Promise<void> {
  const path = socketPath(callersSocket(env), env);
  if (entryOf(path) !== undefined) return;
  const records = listTeams(home).flatMap(({ team, config }) =>
    config === undefined ? [] : memberRecords(teamAt(home, team), config),
  );
  const error = (await lostSocketErrors(records)).find(
    ({ details }) => realPathOf(String(details?.socket)) === path,
  );
  if (error !== undefined) throw error;
}
