import { expect, test } from "vitest";
import {
  keepSidebarWidth,
  openSidebarPane,
  type SidebarWidths,
} from "../../../../src/backend/tmux/sidebar-pane.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

const OURS = { team: "crew", rootTag: "0123456789ab" };

async function opened() {
  const t = privateTmux();
  const { pane: beside } = t.session("work", { width: 160, height: 40 });
  const pane = await openSidebarPane(t.server, { ...OURS, neighbour: beside, argv: ["cat"] });
  let widths: SidebarWidths | undefined;
  return {
    t,
    beside,
    pane,
    window: (width: number) => t.tmux("resize-window", "-t", beside, "-x", String(width), "-y", "40"),
    width: () => Number(t.tmux("display-message", "-p", "-t", pane, "#{pane_width}")),
    look: async () => {
      widths = await keepSidebarWidth(t.server, { ...OURS, pane }, widths);
      return widths;
    },
  };
}

test("A sidebar has its width again where its window got another one, and what a person gave it from then on", async () => {
  const { t, pane, window, width, look } = await opened();
  await look();
  for (const [to, is] of [
    [220, 34],
    [60, 20],
    [160, 34],
  ] as const) {
    window(to);
    await look();
    expect([to, width()]).toEqual([to, is]);
    // What we did to the pane is told as any other change of it.
    await look();
  }
  t.tmux("resize-pane", "-t", pane, "-x", "50");
  await look();
  expect(width()).toBe(50);
  window(200);
  await look();
  expect(width()).toBe(50);
});

test("A zoomed window is left as it is, and so is a pane that is no sidebar of the team's", async () => {
  const { t, beside, pane, window, look } = await opened();
  const had = await look();
  t.tmux("resize-pane", "-Z", "-t", beside);
  window(200);
  expect(await look()).toEqual(had);
  expect(t.tmux("display-message", "-p", "-t", beside, "#{window_zoomed_flag}")).toBe("1");
  for (const other of [
    { ...OURS, pane: beside },
    { ...OURS, team: "other", pane },
  ])
    expect(await keepSidebarWidth(t.server, other, had)).toBeUndefined();
});
