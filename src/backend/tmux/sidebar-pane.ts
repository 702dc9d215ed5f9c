import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { onlyIf, type TmuxCommand } from "../../tmux/command.ts";
import { all, equals } from "../../tmux/format.ts";
import { type PaneId, paneId } from "../../tmux/ids.ts";
import { listPanes } from "../../tmux/list-panes.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { MIN_PANE } from "./grid.ts";
import { ownerTag, TAG } from "./pane-tags.ts";
import { restoreUserLayout, WINDOW_LAYOUT } from "./stack.ts";
import { WINDOW_ZOOMED } from "./zoom.ts";

/** Columns of a sidebar (product.md, "The sidebar"). */
export const SIDEBAR_WIDTH = 34;
/** Columns in which it still works; its neighbour keeps as many. */
const MIN_WIDTH = 20;

export interface SidebarRequest {
  /** The pane at whose right it opens; it keeps the focus. */
  readonly neighbour: string;
  readonly argv: readonly string[];
  /** Variables besides those that the tmux server has. */
  readonly env?: Env;
  readonly team: string;
  readonly rootTag: string;
}

/**
 * Opens the sidebar at the right of a pane; in a narrow one it takes less.
 * @returns its pane
 * @throws TeamError TMUX_ERROR when there is no room, or no such pane
 */
export async function openSidebarPane(server: TmuxServer, request: SidebarRequest): Promise<PaneId> {
  const { panes, serverPid } = await listPanes(server, [WINDOW_LAYOUT]);
  const beside = panes.find((pane) => pane.id === request.neighbour);
  if (beside === undefined) throw refused(`there is no pane ${request.neighbour}`, []);
  const width = Math.min(SIDEBAR_WIDTH, Math.max(MIN_WIDTH, beside.width - 1 - MIN_PANE.width));
  if (beside.width < 2 * MIN_WIDTH + 1) throw refused(`${beside.width} columns are too few for two`, []);
  const env = Object.entries(request.env ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : ["-e", `${name}=${value}`],
  );
  const split = [
    ...["split-window", "-d", "-h", "-l", String(width), "-t", beside.id],
    ...["-P", "-F", "#{pane_id}", ...env, "--", ...request.argv],
  ];
  const made = await server.batch([split], { serverPid });
  const pane = paneId(made.lines[0]);
  if (pane === undefined) throw refused(made.errors.join("; "), made.errors);
  const set = (option: string, value: string): TmuxCommand => ["set-option", "-p", "-t", pane, option, value];
  const tags = [
    set(TAG.sidebar, ownerTag(request)),
    set(TAG.before, beside.options[WINDOW_LAYOUT] ?? ""),
    set("remain-on-exit", "off"),
  ];
  await server.batch(tags, { serverPid });
  return pane;
}

/**
 * Closes the sidebar of a team that stands in the same window as a pane; the window is as it was before.
 * @returns whether there was one
 */
export async function closeSidebarPane(
  server: TmuxServer,
  { neighbour, team, rootTag }: Pick<SidebarRequest, "neighbour" | "team" | "rootTag">,
): Promise<boolean> {
  const seen = await listPanes(server, [TAG.sidebar, TAG.before, TAG.agent]);
  const window = seen.panes.find((pane) => pane.id === neighbour)?.window;
  const sidebar = seen.panes.find(
    (pane) => pane.window === window && pane.options[TAG.sidebar] === ownerTag({ rootTag, team }),
  );
  if (sidebar === undefined) return false;
  const condition = all(
    equals("pane_id", sidebar.id),
    equals("pane_pid", String(sidebar.pid)),
    `#{!=:#{${TAG.sidebar}},}`,
  );
  const was = { window: sidebar.window, layout: sidebar.options[TAG.before] ?? "" };
  const commands = [
    onlyIf(sidebar.id, condition, ["kill-pane", "-t", sidebar.id]),
    ...restoreUserLayout(seen, [{ beside: was }], new Set([sidebar.id])),
  ];
  await server.batch(commands, { serverPid: seen.serverPid });
  return true;
}

/** Columns of a window, and of the sidebar's pane in it. */
export interface SidebarWidths {
  readonly window: number;
  /** What the pane is to have where there is room. */
  readonly pane: number;
  /** What it was left with. */
  readonly shown: number;
}

/**
 * Gives the sidebar its width back where its window got another one, which tmux shares among the panes in proportion. A
 * width that a person has given the pane is its width from then on; a zoomed window is left alone.
 * @param had as it was returned last; undefined at the first look
 * @returns undefined where the pane is no sidebar that we opened
 */
export async function keepSidebarWidth(
  server: TmuxServer,
  { pane, team, rootTag }: { readonly pane: string } & Pick<SidebarRequest, "team" | "rootTag">,
  had: SidebarWidths | undefined,
): Promise<SidebarWidths | undefined> {
  const { panes, serverPid } = await listPanes(server, [TAG.sidebar, WINDOW_ZOOMED]);
  const own = panes.find(({ id }) => id === pane);
  if (own === undefined || own.options[TAG.sidebar] !== ownerTag({ rootTag, team })) return undefined;
  if (own.options[WINDOW_ZOOMED] === "1") return had;
  const { windowWidth: window, width: now } = own;
  if (had === undefined) return { window, pane: now, shown: now };
  if (had.window === window) return had.shown === now ? had : { window, pane: now, shown: now };
  // In a window that has no room for two of them, as much as there was room for when it opened.
  const width = Math.min(had.pane, Math.max(MIN_WIDTH, window - 1 - MIN_PANE.width));
  if (width !== now) {
    const resize = ["resize-pane", "-t", own.id, "-x", String(width)];
    await server.batch([onlyIf(own.id, equals(WINDOW_ZOOMED, "0"), resize)], { serverPid });
  }
  return { window, pane: had.pane, shown: width };
}

function refused(why: string, errors: readonly string[]): TeamError {
  return new TeamError("TMUX_ERROR", `tmux made no pane for the sidebar: ${why}.`, {
    hint: "Make the window wider, or run `teams sidebar` in a pane of its own.",
    details: { kind: "refused", errors },
  });
}
