import { dirname, join } from "node:path";
import { layOutTeam } from "../backend/tmux/apply-layout.ts";
import type { LayoutName } from "../backend/tmux/layout-commands.ts";
import { type RecordedServer, serverAt } from "../backend/tmux/server-for.ts";
import { TeamError } from "../errors.ts";
import { livenessOf } from "../os/process/identity.ts";
import { rootTag } from "../protocol/paths.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { withLock } from "../store/lock.ts";
import { readTeam } from "../team/config/config.ts";
import { readPlace } from "../team/records/read-records.ts";
import { optionWords } from "../text/shell-quote.ts";
import type { OperationContext } from "./context.ts";

/**
 * Lays out the team's shared windows on every tmux server that has one.
 * @returns the number of windows; 0 if each teammate has its own window
 * @throws TeamError RECIPIENT_INACTIVE if the team has no window, TMUX_ERROR
 */
export async function layOutWindows(ctx: OperationContext, layout: LayoutName): Promise<number> {
  const team = { team: ctx.ref.team, rootTag: rootTag(ctx.home.root) };
  let [shared, apart] = [0, 0];
  for (const server of serversOf(ctx)) {
    const counts = await withPaneLock(ctx, () => layOutTeam(serverAt(server, ctx.env), team, layout));
    shared += counts.shared;
    apart += counts.apart;
  }
  if (shared > 0 || apart > 0) return shared;
  throw new TeamError("RECIPIENT_INACTIVE", `${ctx.ref.team} has no window now; nothing was changed.`, {
    hint: `See where the members are: teams status ${optionWords("--team", ctx.ref.team)}`,
  });
}

/** Runs `act` under the lock that spawns take, too: a spawn plans by the panes that it lists, so no pane may move meanwhile. */
export function withPaneLock<T>({ ref }: OperationContext, act: () => Promise<T>): Promise<T> {
  return withLock(join(dirname(ref.paths.agent(LEAD_NAME).run), "panes"), act);
}

/** Returns the servers of the members' panes, one for each socket: the living one, if a socket has had several. */
function serversOf(ctx: OperationContext): Iterable<RecordedServer> {
  const found = new Map<string, RecordedServer>();
  for (const { name } of readTeam(ctx.ref).members) {
    const server = readPlace(ctx.ref, name)?.server;
    if (server !== undefined && (!found.has(server.socket) || livenessOf(server) === "alive"))
      found.set(server.socket, server);
  }
  return found.values();
}
