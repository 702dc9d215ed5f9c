import { callersServer } from "../backend/tmux/server-for.ts";
import {
  closeSidebarPane,
  keepSidebarWidth,
  type OpenedSidebar,
  openSidebarPane,
  type SidebarRequest,
  type SidebarWidths,
} from "../backend/tmux/sidebar-pane.ts";
import { rootTag } from "../protocol/paths.ts";
import type { TeamRef } from "../team/ref.ts";
import type { Io } from "../terminal/io.ts";
import { tmuxCaller } from "../tmux/caller.ts";

/** Variables that select the team and its files; the tmux server may have other values. */
const SIDEBAR_VARIABLES = [
  "TEAMS_HOME",
  "CLAUDE_CONFIG_DIR",
  "HOME",
  "XDG_RUNTIME_DIR",
  "NO_COLOR",
  "TEAMS_TMUX_SOCKET",
  // The time zone.
  "TZ",
];

/** Variables of the locale: if the caller lacks one, its value must not come from the tmux server. An empty one counts as not set. */
const LOCALE_VARIABLES = ["LC_ALL", "LC_CTYPE", "LANG"];

/**
 * Opens the team's sidebar to the right of a pane.
 * @param neighbourWidth minimum columns that this pane keeps
 * @throws TeamError TMUX_ERROR if there is no room
 */
export async function openSidebar(
  io: Io,
  ref: TeamRef,
  neighbour: string,
  neighbourWidth?: number,
): Promise<OpenedSidebar> {
  const env = Object.fromEntries([
    ...SIDEBAR_VARIABLES.map((name) => [name, io.env[name]]),
    ...LOCALE_VARIABLES.map((name) => [name, io.env[name] ?? ""]),
  ]);
  return openSidebarPane(callersServer(io.env), {
    ...placeOf(io, ref, neighbour),
    env,
    neighbourWidth,
    argv: [...io.program, "sidebar", "--team", ref.team],
  });
}

/** Closes the sidebar of a team in the window of a pane. @returns whether one was open */
export async function closeSidebar(io: Io, ref: TeamRef, neighbour: string): Promise<boolean> {
  return closeSidebarPane(callersServer(io.env), placeOf(io, ref, neighbour));
}

/**
 * Keeps the width of the sidebar that this process draws.
 * @returns a function to call after each resize of the terminal; calls while it runs are merged into one
 */
export function widthKeeper(io: Io, ref: TeamRef, problem: (error: unknown) => void): () => void {
  const pane = io.env.TMUX ? io.env.TMUX_PANE : undefined;
  if (pane === undefined) return () => undefined;
  const server = callersServer(io.env);
  const own = { pane, team: ref.team, rootTag: rootTag(ref.home.root) };
  const { columns } = io;
  let widths: SidebarWidths | undefined;
  let isDue = false;
  let isRunning = false;
  const adjust = async (): Promise<void> => {
    isDue = true;
    if (isRunning) return;
    isRunning = true;
    try {
      while (isDue) {
        isDue = false;
        widths = await keepSidebarWidth(server, own, widths ?? columns);
      }
    } finally {
      isRunning = false;
    }
  };
  const keep = (): void => void adjust().catch(problem);
  keep();
  return keep;
}

function placeOf(io: Io, ref: TeamRef, neighbour: string): Omit<SidebarRequest, "argv" | "env"> {
  const serverPid = tmuxCaller(io.env)?.serverPid;
  return { neighbour, serverPid, team: ref.team, rootTag: rootTag(ref.home.root) };
}
