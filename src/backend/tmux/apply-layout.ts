import { TeamError } from "../../errors.ts";
import { listPanes } from "../../tmux/list-panes.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import type { SpawnRequest } from "../backend.ts";
import { type LayoutName, layoutCommands } from "./layout-commands.ts";
import { isInOurWindow, ownerTag } from "./pane-tags.ts";
import { hasOwnWindow, PLAN_OPTIONS, teamWindows, windowSize } from "./plan-panes.ts";

/**
 * Lays out the shared windows of a team. Panes that join them later follow the same layout.
 * @returns the number of shared windows, and of windows that hold only one teammate and have no layout
 * @throws TeamError TMUX_ERROR
 */
export async function layOutTeam(
  server: TmuxServer,
  team: Pick<SpawnRequest, "team" | "rootTag">,
  layout: LayoutName,
): Promise<{ readonly shared: number; readonly apart: number }> {
  const seen = await listPanes(server, PLAN_OPTIONS);
  const windows = teamWindows(seen, team, { kind: "team-window" });
  const alone = seen.panes.filter((pane) => hasOwnWindow(pane) && isInOurWindow(pane, ownerTag(team)));
  const counts = { shared: windows.length, apart: new Set(alone.map(({ window }) => window)).size };
  const commands = windows.flatMap((panes) => {
    const [first] = panes;
    if (first === undefined) return [];
    return layoutCommands({ id: first.window, size: windowSize(panes), panes: panes.length, layout });
  });
  if (commands.length === 0) return counts;
  const { errors } = await server.batch(commands, { serverPid: seen.serverPid });
  if (errors.length === 0) return counts;
  throw new TeamError("TMUX_ERROR", `tmux did not lay out every window as ${layout}: ${errors.join("; ")}.`, {
    hint: "The agents keep running. Enlarge the window, or choose another layout.",
    details: { kind: "refused", errors },
  });
}
