import { callersServer } from "../backend/servers.ts";
import { closeSidebarPane, openSidebarPane, type SidebarRequest } from "../backend/sidebar-pane.ts";
import { rootTag } from "../protocol/paths.ts";
import type { TeamRef } from "../team/ref.ts";
import type { Io } from "./io.ts";

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
export async function openSidebar(io: Io, ref: TeamRef, beside: string): Promise<string> {
  const env = Object.fromEntries(ABOUT_US.map((name) => [name, io.env[name]]));
  return openSidebarPane(callersServer(io.env), {
    ...placeOf(ref, beside),
    env,
    argv: [...io.program, "sidebar", "--team", ref.team],
  });
}

/** Closes the sidebar of a team in the window of a pane. @returns whether there was one */
export async function closeSidebar(io: Io, ref: TeamRef, beside: string): Promise<boolean> {
  return closeSidebarPane(callersServer(io.env), placeOf(ref, beside));
}

function placeOf(ref: TeamRef, beside: string): Pick<SidebarRequest, "beside" | "team" | "rootTag"> {
  return { beside, team: ref.team, rootTag: rootTag(ref.home.root) };
}
