import { expect, test } from "vitest";
import {
  keepSidebarWidth,
  openSidebarPane,
  type SidebarWidths,
} from "../../../../src/backend/tmux/sidebar-pane.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

const OURS = { team: "crew", rootTag: "0123456789ab" };

/** @param atStart the columns that the sidebar had at its start; undefined if it does not know them */
async function opened(atStart?: number) {
  const t = privateTmux();
  const { pane: beside } = t.session("work", { width: 160, height: 40 });
  const pane = await openSidebarPane(t.server, { ...OURS, neighbour: beside, argv: ["cat"] });
  let widths: SidebarWidths | number | undefined = atStart;
  return {
    t,
    beside,
    pane,
    window: (width: number) => t.tmux("resize-window", "-t", beside, "-x", String(width), "-y", "40"),
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

test("keepSidebarWidth › restores the width that the sidebar had at its start, if the window changes before the first look", async () => {
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
  const { t, beside, pane, window, adjust } = await opened();
  const had = await adjust();
  t.tmux("resize-pane", "-Z", "-t", beside);
  window(200);
  expect(await adjust()).toEqual(had);
  expect(t.tmux("display-message", "-p", "-t", beside, "#{window_zoomed_flag}")).toBe("1");
  for (const other of [
    { ...OURS, pane: beside },
    { ...OURS, team: "other", pane },
  ])
    expect(await keepSidebarWidth(t.server, other, had)).toBeUndefined();
});
