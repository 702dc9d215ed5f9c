import { expect, test } from "vitest";
import {
  closeSidebarPane,
  keepSidebarWidth,
  openSidebarPane,
  type SidebarWidths,
} from "../../../../src/backend/tmux/sidebar-pane.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

const OURS = { team: "crew", rootTag: "0123456789ab" };

/** @param atStart the columns that the sidebar had at its start; undefined if they are unknown */
async function opened(atStart?: number) {
  const t = privateTmux();
  const { pane: caller } = t.session("work", { width: 160, height: 40 });
  const { pane } = await openSidebarPane(t.server, { ...OURS, neighbour: caller, argv: ["cat"] });
  let widths: SidebarWidths | number | undefined = atStart;
  return {
    t,
    caller,
    pane,
    window: (width: number) => t.tmux("resize-window", "-t", caller, "-x", String(width), "-y", "40"),
    width: () => Number(t.tmux("display-message", "-p", "-t", pane, "#{pane_width}")),
    adjust: async () => {
      widths = await keepSidebarWidth(t.server, { ...OURS, pane }, widths);
      return widths;
    },
  };
}

test("keepSidebarWidth › restores the width when the window changes, and keeps a width set by the user", async () => {
  const { t, pane, window, width, adjust } = await opened();
  await adjust();
  for (const [to, is] of [
    [220, 34],
    [60, 20],
    [160, 34],
  ] as const) {
    window(to);
    await adjust();
    expect([to, width()]).toEqual([to, is]);
    // Our own resize counts as a change of the pane, too.
    await adjust();
  }
  t.tmux("resize-pane", "-t", pane, "-x", "50");
  await adjust();
  expect(width()).toBe(50);
  window(200);
  await adjust();
  expect(width()).toBe(50);
});

test("keepSidebarWidth › restores the width that the sidebar had at its start, if the window changes before the first check", async () => {
  const { window, width, adjust } = await opened(34);
  window(220);
  expect(width()).not.toBe(34);
  await adjust();
  expect(width()).toBe(34);
  window(160);
  await adjust();
  expect(width()).toBe(34);
});

test("keepSidebarWidth › leaves a zoomed window, and any pane except the team's sidebar, alone", async () => {
  const { t, caller, pane, window, adjust } = await opened();
  const had = await adjust();
  t.tmux("resize-pane", "-Z", "-t", caller);
  window(200);
  expect(await adjust()).toEqual(had);
  expect(t.tmux("display-message", "-p", "-t", caller, "#{window_zoomed_flag}")).toBe("1");
  for (const other of [
    { ...OURS, pane: caller },
    { ...OURS, team: "other", pane },
  ])
    expect(await keepSidebarWidth(t.server, other, had)).toBeUndefined();
});

/** Opens two panes of the user side by side, with the left pane zoomed. */
function zoomed(leftColumns: number) {
  const t = privateTmux();
  const { pane } = t.session("work", { width: 160, height: 40 });
  t.tmux("split-window", "-d", "-h", "-l", String(159 - leftColumns), "-t", pane, "env", "cat");
  t.tmux("resize-pane", "-Z", "-t", pane);
  return {
    t,
    request: { ...OURS, neighbour: pane, argv: ["env", "cat"] },
    toggleZoom: () => t.tmux("resize-pane", "-Z", "-t", pane),
    isZoomed: () =>
      t.tmux("display-message", "-p", "-t", "=work:", "#{window_zoomed_flag} #{pane_id}") === `1 ${pane}`,
    layout: () => t.tmux("display-message", "-p", "-t", pane, "#{window_layout}"),
    widths: () => t.tmux("list-panes", "-t", pane, "-F", "#{pane_width}").split("\n").map(Number),
    /** Whether the record of the zoomed pane is left. */
    isRecorded: () => t.tmux("show-options", "-w", "-t", pane).includes("@teams_zoomed"),
  };
}

test("openSidebarPane › keeps the user's zoom when it opens automatically", async () => {
  const { t, request, toggleZoom, isZoomed, widths, isRecorded } = zoomed(119);
  const { neighbourWidth } = await openSidebarPane(t.server, { ...request, neighbourWidth: 65 });
  expect([isZoomed(), isRecorded(), neighbourWidth]).toEqual([true, false, 160]);
  toggleZoom();
  expect(widths()).toEqual([84, 34, 40]);
});

test("openSidebarPane › counts the columns that a zoomed pane has without its zoom", async () => {
  const narrow = zoomed(90);
  await expect(
    openSidebarPane(narrow.t.server, { ...narrow.request, neighbourWidth: 65 }),
  ).rejects.toMatchObject({ details: { kind: "narrow" } });
  expect(narrow.isZoomed()).toBe(true);
  const { t, request, widths, isZoomed } = zoomed(49);
  const { neighbourWidth } = await openSidebarPane(t.server, request);
  expect([isZoomed(), widths(), neighbourWidth]).toEqual([false, [28, 20, 110], 28]);
});

test("closeSidebarPane › keeps the zoom of another pane, and restores the layout below it", async () => {
  const { t, request, toggleZoom, isZoomed, layout, isRecorded } = zoomed(119);
  const before = layout();
  await openSidebarPane(t.server, request);
  // The split has ended the zoom.
  toggleZoom();
  expect(isZoomed()).toBe(true);
  expect(await closeSidebarPane(t.server, request)).toBe(true);
  expect([isZoomed(), layout(), isRecorded()]).toEqual([true, before, false]);
});
