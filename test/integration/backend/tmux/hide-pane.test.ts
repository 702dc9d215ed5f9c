import { expect, test } from "vitest";
import type { Placement } from "../../../../src/backend/backend.ts";
import { hidePane, showPane } from "../../../../src/backend/tmux/hide-pane.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import type { PlaceRecord } from "../../../../src/schema/status.ts";
import { placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

const TEAM = { team: "audit", rootTag: "0123456789ab", teamTitle: "Audit" };

test("hidePane › moves a pane to its own window, and showPane back to its place", async () => {
  const { t, user, spawn } = inside();
  const [a, b, c] = await spawn("team-window", "a", "b", "c");
  const before = layout(t, a);
  expect(await hidePane(t.server, b, "b #(x)")).toBe("moved");
  expect(await hidePane(t.server, b, "b #(x)")).toBe("unchanged");
  expect(show(t, b, "#{session_name} #{window_panes}")).toBe("work 1");
  expect(show(t, b, "#{window_name}").replace("##", "#")).toBe("b #(x)");
  expect(panes(t, a)).toEqual([a.paneId, c.paneId]);
  expect(show(t, a, "#{pane_width}")).toBe("100");
  // A pane spawned meanwhile does not join the hidden pane's window.
  const [d] = await spawn("team-window", "d");
  expect(panes(t, a)).toEqual([a.paneId, c.paneId, d.paneId]);
  expect(await hidePane(t.server, d, "d")).toBe("moved");
  expect(await showPane(t.server, b, TEAM)).toBe("moved");
  expect(await showPane(t.server, b, TEAM)).toBe("unchanged");
  expect(panes(t, a)).toEqual([a.paneId, c.paneId, b.paneId]);
  expect(
    layout(t, a)
      .replace(/,\d+(?=[,\]}])/g, "")
      .slice(5),
  ).toBe(before.replace(/,\d+(?=[,\]}])/g, "").slice(5));
  expect(t.tmux("display-message", "-p", "-t", "=work:", "#{pane_id}")).toBe(user);
});

test("showPane › makes the first shown pane's window the team window when all were hidden", async () => {
  const { t, spawn } = inside();
  const [a, b] = await spawn("team-window", "a", "b");
  for (const place of [a, b]) expect(await hidePane(t.server, place, "alone")).toBe("moved");
  expect(show(t, a, "#{window_name} #{window_panes}")).toBe("alone 1");
  expect(show(t, a, "#{window_id}")).not.toBe(show(t, b, "#{window_id}"));
  for (const place of [b, a]) expect(await showPane(t.server, place, TEAM)).toBe("moved");
  expect(panes(t, a)).toEqual([b.paneId, a.paneId]);
  expect(show(t, a, "#{window_name} #{pane-border-status}")).toBe("Audit top");
});

test("showPane › puts the pane back into the order of the members", async () => {
  const { t, spawn } = inside();
  const [a, b, c] = await spawn("team-window", "a", "b", "c");
  const later = [b, c].flatMap(({ paneId }) => paneId ?? []);
  const windows: string[] = [];
  for (const active of [b, c]) {
    t.tmux("select-pane", "-t", active.paneId ?? "");
    expect(await hidePane(t.server, a, "a")).toBe("moved");
    expect(await showPane(t.server, a, TEAM, { later, moved: (window) => windows.push(window) })).toBe(
      "moved",
    );
    expect(panes(t, a)).toEqual([a.paneId, b.paneId, c.paneId]);
    expect(show(t, active, "#{pane_active}")).toBe("1");
    expect(windows.splice(0)).toEqual([show(t, a, "#{window_id}")]);
  }
});

test("hidePane › frees the space beside the caller, and showPane uses the team window", async () => {
  const { t, user, spawn } = inside();
  const before = t.tmux("display-message", "-p", "-t", user, "#{window_layout}");
  const [a] = await spawn("here", "a");
  expect(await hidePane(t.server, a, "a")).toBe("moved");
  expect(t.tmux("display-message", "-p", "-t", user, "#{window_layout}")).toBe(before);
  expect(await showPane(t.server, a, TEAM)).toBe("moved");
  expect(t.tmux("display-message", "-p", "-t", user, "#{window_layout}")).toBe(before);
  expect(show(t, a, "#{window_name}")).toBe("Audit");
});

test("hidePane and showPane › leave a pane in its own window alone", async () => {
  const { t, spawn } = inside();
  const [a] = await spawn("window", "a");
  await spawn("team-window", "b");
  const before = t.tmux("list-panes", "-a", "-F", "#{window_name} #{pane_id} #{@teams_window}");
  expect(await hidePane(t.server, a, "a")).toBe("own-window");
  expect(await showPane(t.server, a, TEAM)).toBe("own-window");
  expect(t.tmux("list-panes", "-a", "-F", "#{window_name} #{pane_id} #{@teams_window}")).toBe(before);
});

test("hidePane and showPane › never move a pane that now belongs to another process (S39)", async () => {
  const { t, user, spawn } = inside();
  const [a] = await spawn("team-window", "a", "b");
  const places = () => t.tmux("list-panes", "-a", "-F", "#{window_id} #{pane_id} #{window_layout}");
  const before = places();
  for (const other of [
    { ...a, paneId: user },
    { ...a, panePid: 1 },
    { ...a, instance: "x" },
  ]) {
    expect(await hidePane(t.server, other, "a")).toBe("gone");
    expect(await showPane(t.server, other, TEAM)).not.toBe("moved");
  }
  expect(places()).toBe(before);
  await t.killServer();
  expect(await hidePane(t.server, a, "a")).toBe("gone");
});

function inside() {
  const t = privateTmux();
  const { pane: user } = t.session();
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  return {
    t,
    user,
    async spawn<N extends readonly string[]>(kind: Placement["kind"], ...names: N) {
      const requests = names.map((name) => requestFor(t, name));
      return placesOf(await backend.spawn(requests, { kind, callerPane: user })) as {
        [I in keyof N]: PlaceRecord;
      };
    },
  };
}

function show(t: PrivateTmux, { paneId = "" }: PlaceRecord, format: string): string {
  return t.tmux("display-message", "-p", "-t", paneId, format);
}

function panes(t: PrivateTmux, { paneId = "" }: PlaceRecord): string[] {
  return t.tmux("list-panes", "-t", paneId, "-F", "#{pane_id}").split("\n");
}

function layout(t: PrivateTmux, place: PlaceRecord): string {
  return show(t, place, "#{window_layout}");
}
