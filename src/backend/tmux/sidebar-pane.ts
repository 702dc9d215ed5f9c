import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { attemptBatch } from "../../tmux/attempt-batch.ts";
import { allOf, equals, onlyIf, type TmuxCommand } from "../../tmux/command.ts";
import { type PaneId, paneId } from "../../tmux/ids.ts";
import { columnsInLayout } from "../../tmux/layout-string.ts";
import { listPanes, type PaneList, type TmuxPane } from "../../tmux/list-panes.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { actualPosition, POSITION_OPTIONS } from "./caller-position.ts";
import { MIN_PANE } from "./grid.ts";
import { ownerTag, TAG } from "./pane-tags.ts";
import { restoreUserLayout, WINDOW_LAYOUT } from "./stack.ts";
import { keepZoom, WINDOW_ZOOMED } from "./zoom.ts";

/** Columns of a sidebar (product.md, "The sidebar"). */
export const SIDEBAR_WIDTH = 34;
const OPENED = "teams-sidebar";
/** Minimum columns of the sidebar, and of the pane that it splits. */
const MIN_WIDTH = 20;

export interface OpenedSidebar {
  readonly pane: PaneId;
  /** Columns of the neighbour now; undefined if tmux did not report them. */
  readonly neighbourWidth: number | undefined;
}

export interface SidebarRequest {
  /** The pane to the left of the sidebar; it keeps the focus. */
  readonly neighbour: string;
  /** The process of that pane's server, if known. */
  readonly serverPid?: number | undefined;
  /** Minimum columns that the neighbour keeps; 20 by default. */
  readonly neighbourWidth?: number | undefined;
  readonly argv: readonly string[];
  /** Variables in addition to those of the tmux server. */
  readonly env?: Env;
  readonly team: string;
  readonly rootTag: string;
}

/**
 * Opens the sidebar to the right of a pane; it gets fewer columns if that pane is narrow. A sidebar that opens automatically keeps the
 * user's zoom. A sidebar that the user asked for ends the zoom, which would hide it.
 * @throws TeamError TMUX_ERROR if there is no room (kind `narrow`) or no such pane
 */
export async function openSidebarPane(server: TmuxServer, request: SidebarRequest): Promise<OpenedSidebar> {
  const seen = await listPanes(server, [WINDOW_LAYOUT, ...POSITION_OPTIONS]);
  const { serverPid } = seen;
  const neighbour = neighbourIn(seen, request);
  if (neighbour === undefined) throw refused(`there is no pane ${request.neighbour}`, []);
  const { neighbourWidth = MIN_WIDTH } = request;
  // The width without a zoom: a zoomed pane is as wide as its window.
  const columns = columnsInLayout(neighbour.options[WINDOW_LAYOUT] ?? "", neighbour.id) ?? neighbour.width;
  const room = columns - 1 - Math.max(MIN_PANE.width, neighbourWidth);
  // A sidebar that opens automatically gets its full width, or does not open.
  const isAutomatic = request.neighbourWidth !== undefined;
  const width = isAutomatic ? SIDEBAR_WIDTH : Math.min(SIDEBAR_WIDTH, Math.max(MIN_WIDTH, room));
  if (columns < width + 1 + neighbourWidth)
    throw refused(`${columns} columns are too few for two panes`, [], undefined, "narrow");
  const env = Object.entries(request.env ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : ["-e", `${name}=${value}`],
  );
  const split = [
    ...["split-window", "-d", "-h", "-l", String(width), "-t", neighbour.id],
    ...["-P", "-F", `${OPENED} #{pane_id}`, ...env, "--", ...request.argv],
  ];
  const batch = isAutomatic ? keepZoom(neighbour.window, [split]) : [split];
  const created = await attemptBatch(server, batch, { serverPid });
  const pane = paneId(printedIn(created.lines));
  if (pane === undefined)
    throw refused(
      created.errors.join("; ").replace(/\.$/, "") || "it gave no reason",
      created.errors,
      await created.advice(),
    );
  const set = (option: string, value: string): TmuxCommand => ["set-option", "-p", "-t", pane, option, value];
  const tags = [
    set(TAG.sidebar, ownerTag(request)),
    set(TAG.before, neighbour.options[WINDOW_LAYOUT] ?? ""),
    set("remain-on-exit", "off"),
  ];
  const measure = ["display-message", "-p", "-t", neighbour.id, `${OPENED} #{pane_width}`];
  const { lines } = await attemptBatch(server, [...tags, measure], { serverPid });
  return { pane, neighbourWidth: Number(printedIn(lines)) || undefined };
}

/** Returns the printed value; ignores other lines, which a hook of the user may print. */
function printedIn(lines: readonly string[]): string | undefined {
  return lines.find((line) => line.startsWith(`${OPENED} `))?.slice(OPENED.length + 1);
}

/**
 * Closes the sidebar of a team in the window of a pane, and restores the earlier layout of that window. A zoom of another pane stays.
 * @returns whether the window had a sidebar
 */
export async function closeSidebarPane(
  server: TmuxServer,
  request: Omit<SidebarRequest, "argv" | "env">,
): Promise<boolean> {
  const { team, rootTag } = request;
  const seen = await listPanes(server, [TAG.sidebar, TAG.before, TAG.agent, ...POSITION_OPTIONS]);
  const window = neighbourIn(seen, request)?.window;
  const sidebar = seen.panes.find(
    (pane) => pane.window === window && pane.options[TAG.sidebar] === ownerTag({ rootTag, team }),
  );
  if (sidebar === undefined) return false;
  const condition = allOf(
    equals("pane_id", sidebar.id),
    equals("pane_pid", String(sidebar.pid)),
    `#{!=:#{${TAG.sidebar}},}`,
  );
  const was = { window: sidebar.window, layout: sidebar.options[TAG.before] ?? "" };
  const commands = [
    onlyIf(sidebar.id, condition, ["kill-pane", "-t", sidebar.id]),
    ...restoreUserLayout(seen, [{ beside: was }], new Set([sidebar.id])),
  ];
  await server.batch(keepZoom(sidebar.window, commands), { serverPid: seen.serverPid });
  return true;
}

function neighbourIn(
  seen: PaneList,
  { neighbour, serverPid }: Pick<SidebarRequest, "neighbour" | "serverPid">,
): TmuxPane | undefined {
  const { callerPane } = actualPosition(seen, { callerPane: neighbour, callerServer: serverPid });
  return seen.panes.find(({ id }) => id === callerPane);
}

/** Columns of a window, and of the sidebar's pane in it. */
export interface SidebarWidths {
  readonly window: number;
  /** Preferred columns of the sidebar. */
  readonly pane: number;
  /** Columns that it got last. */
  readonly shown: number;
}

/**
 * Restores the sidebar's width after its window was resized: tmux distributes the change among all panes. A width that the user has set
 * becomes the preferred width. Does nothing in a zoomed window.
 * @param previous the last result; before the first call, the columns that the sidebar had at its start
 * @returns the widths now; undefined if the pane is not a sidebar of this team
 */
export async function keepSidebarWidth(
  server: TmuxServer,
  { pane, team, rootTag }: { readonly pane: string } & Pick<SidebarRequest, "team" | "rootTag">,
  previous: SidebarWidths | number | undefined,
): Promise<SidebarWidths | undefined> {
  const { panes, serverPid } = await listPanes(server, [TAG.sidebar, WINDOW_ZOOMED]);
  const own = panes.find(({ id }) => id === pane);
  if (own === undefined || own.options[TAG.sidebar] !== ownerTag({ rootTag, team })) return undefined;
  const { windowWidth: window, width: now } = own;
  // A width that differs from the start means that the window was resized since.
  const last =
    typeof previous === "number" && previous !== now
      ? { window: undefined, pane: previous, shown: previous }
      : previous;
  if (own.options[WINDOW_ZOOMED] === "1") return typeof previous === "object" ? previous : undefined;
  if (typeof last !== "object") return { window, pane: now, shown: now };
  if (last.window === window)
    return last.shown === now ? { ...last, window } : { window, pane: now, shown: now };
  // In a narrow window, use the same limit as when it opened.
  const width = Math.min(last.pane, Math.max(MIN_WIDTH, window - 1 - MIN_PANE.width));
  if (width !== now) {
    const resize = ["resize-pane", "-t", own.id, "-x", String(width)];
    await server.batch([onlyIf(own.id, equals(WINDOW_ZOOMED, "0"), resize)], { serverPid });
  }
  return { window, pane: last.pane, shown: width };
}

function refused(
  why: string,
  errors: readonly string[],
  advice = "Make the window wider, or run `teams sidebar` in a separate pane.",
  kind: "refused" | "narrow" = "refused",
): TeamError {
  return new TeamError("TMUX_ERROR", `tmux created no pane for the sidebar: ${why}.`, {
    hint: advice,
    details: { kind, errors },
  });
}
