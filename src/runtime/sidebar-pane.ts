import { callersServer } from "../backend/tmux/server-for.ts";
import {
  closeSidebarPane,
  keepSidebarWidth,
  openSidebarPane,
  type SidebarRequest,
  type SidebarWidths,
} from "../backend/tmux/sidebar-pane.ts";
import { rootTag } from "../protocol/paths.ts";
import type { TeamRef } from "../team/ref.ts";
import type { Io } from "../terminal/io.ts";

/** Variables that say which team is meant; the tmux server may have others. */
const ABOUT_US = [
  "TEAMS_HOME",
  "CLAUDE_CONFIG_DIR",
  "HOME",
  "XDG_RUNTIME_DIR",
  "NO_COLOR",
  "TEAMS_TMUX_SOCKET",
];

/** Opens the team's sidebar at the right of a pane. @returns its pane. @throws TeamError TMUX_ERROR without room */
export async function openSidebar(io: Io, ref: TeamRef, neighbour: string): Promise<string> {
  const env = Object.fromEntries(ABOUT_US.map((name) => [name, io.env[name]]));
  return openSidebarPane(callersServer(io.env), {
    ...placeOf(ref, neighbour),
    env,
    argv: [...io.program, "sidebar", "--team", ref.team],
  });
}

/** Closes the sidebar of a team in the window of a pane. @returns whether there was one */
export async function closeSidebar(io: Io, ref: TeamRef, neighbour: string): Promise<boolean> {
  return closeSidebarPane(callersServer(io.env), placeOf(ref, neighbour));
}

/**
 * Keeps the width of the sidebar that this process draws.
 * @returns to be called with each new size of its terminal; of those that come meanwhile the last one is looked at
 */
export function widthKeeper(io: Io, ref: TeamRef, problem: (error: unknown) => void): () => void {
  const pane = io.env.TMUX ? io.env.TMUX_PANE : undefined;
  if (pane === undefined) return () => undefined;
  const server = callersServer(io.env);
  const own = { pane, team: ref.team, rootTag: rootTag(ref.home.root) };
  let widths: SidebarWidths | undefined;
  let isDue = false;
  let isLooking = false;
  const look = async (): Promise<void> => {
    isDue = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (isDue) {
        isDue = false;
        widths = await keepSidebarWidth(server, own, widths);
      }
    } finally {
      isLooking = false;
    }
  };
  const keep = (): void => void look().catch(problem);
  keep();
  return keep;
}

function placeOf(ref: TeamRef, neighbour: string): Pick<SidebarRequest, "neighbour" | "team" | "rootTag"> {
  return { neighbour, team: ref.team, rootTag: rootTag(ref.home.root) };
}
