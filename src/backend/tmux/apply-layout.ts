import { TeamError } from "../../errors.ts";
import { attemptBatch } from "../../tmux/attempt-batch.ts";
import type { BatchLine, TmuxCommand } from "../../tmux/command.ts";
import type { WindowId } from "../../tmux/ids.ts";
import { listPanes } from "../../tmux/list-panes.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import type { SpawnRequest } from "../backend.ts";
import { type LayoutName, layoutCommands } from "./layout-commands.ts";
import { isInOurWindow, ownerTag } from "./pane-tags.ts";
import { hasFloating, hasOwnWindow, PLAN_OPTIONS, teamWindows, windowSize } from "./plan-panes.ts";
import { recordZoom, restoreZoom } from "./zoom.ts";

/**
 * Lays out the shared windows of a team. Panes that join them later follow the same layout.
 * @returns the number of shared windows, and of windows with a single teammate, which have no layout
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
  const laidOut = windows.flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [{ id: first.window, size: windowSize([first]), panes: others.length + 1, layout }],
  );
  if (laidOut.length === 0) return counts;
  const commands = laidOut.flatMap((window): BatchLine[] => {
    const [select = [], ...others] = layoutCommands(window);
    return [
      recordZoom(window.id),
      // Once the floating pane is gone, the window's hook lays the window out.
      { chain: [...(hasFloating(seen, window.id) ? [] : [select]), printDone(window.id)] },
      ...others,
      restoreZoom(window.id),
    ];
  });
  const result = await attemptBatch(server, commands, { serverPid: seen.serverPid });
  // These may include errors of the user's hooks.
  const { lines, errors } = result;
  if (laidOut.every(({ id }) => lines.includes(doneLine(id)))) return counts;
  const why = errors.join("; ").replace(/\.$/, "") || "it gave no reason";
  const advice = (await result.advice()) ?? "Enlarge the window, or choose another layout.";
  throw new TeamError("TMUX_ERROR", `tmux did not lay out every window as ${layout}: ${why}.`, {
    hint: `The agents keep running. ${advice}`,
    details: { kind: "refused", errors },
  });
}

function printDone(window: WindowId): TmuxCommand {
  return ["display-message", "-p", doneLine(window)];
}

function doneLine(window: WindowId): string {
  return `teams-laid-out ${window}`;
}
