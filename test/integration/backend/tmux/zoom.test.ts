import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { SpawnRequest } from "../../../../src/backend/backend.ts";
import { layOutTeam } from "../../../../src/backend/tmux/apply-layout.ts";
import { hidePane, showPane } from "../../../../src/backend/tmux/hide-pane.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import type { PlaceRecord } from "../../../../src/schema/status.ts";
import { end, placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

const TEAM = { team: "audit", rootTag: "0123456789ab", teamTitle: "Audit" };

test("zoom › stays on the user's pane while others join, are hidden, shown and closed", async () => {
  const { t, spawn, backend } = inside();
  const [a, b] = (await spawn("a", "b")) as [PlaceRecord, PlaceRecord];
  const window = a.windowId ?? "";
  const zoomed = () => t.tmux("display-message", "-p", "-t", window, "#{window_zoomed_flag} #{pane_id}");
  t.tmux("resize-pane", "-Z", "-t", b.paneId ?? "");
  const before = zoomed();
  expect(before).toBe(`1 ${b.paneId}`);
  const [c] = (await spawn("c")) as [PlaceRecord];
  expect(c.windowId).toBe(window);
  expect(zoomed()).toBe(before);
  expect(await hidePane(t.server, a, "a")).toBe("moved");
  expect(zoomed()).toBe(before);
  expect(await showPane(t.server, a, TEAM)).toBe("moved");
  expect(zoomed()).toBe(before);
  await backend.close([a]);
  expect(zoomed()).toBe(before);
  expect(t.tmux("show-options", "-w", "-t", window)).not.toContain("@teams_zoomed");
  // Below the zoom the panes are laid out as usual.
  t.tmux("resize-pane", "-Z", "-t", b.paneId ?? "");
  expect(t.tmux("list-panes", "-t", window, "-F", "#{pane_width}x#{pane_height}")).toBe("100x49\n99x49");
});

test("zoom › is not moved to another pane when the zoomed pane leaves", async () => {
  const { t, spawn, backend } = inside();
  const places = await spawn("a", "b", "c", "d");
  const [a, b] = places as [PlaceRecord, PlaceRecord];
  const window = a.windowId ?? "";
  const flag = () => t.tmux("display-message", "-p", "-t", window, "#{window_zoomed_flag}");
  t.tmux("resize-pane", "-Z", "-t", a.paneId ?? "");
  expect(await hidePane(t.server, a, "a")).toBe("moved");
  expect(flag()).toBe("0");
  t.tmux("resize-pane", "-Z", "-t", b.paneId ?? "");
  await backend.close([b]);
  expect(flag()).toBe("0");
  expect(await showPane(t.server, a, TEAM)).toBe("moved");
  expect(flag()).toBe("0");
});

test("zoom › survives the ends of other teammates and a layout, but not the user's own unzoom", async () => {
  const { t, spawn } = inside();
  const [a, b, c, d] = (await spawn("a", "b", "c", "d")) as [
    PlaceRecord,
    PlaceRecord,
    PlaceRecord,
    PlaceRecord,
  ];
  const window = a.windowId ?? "";
  const panes = (): string => t.tmux("display-message", "-p", "-t", window, "#{window_panes}");
  const zoomed = () => t.tmux("display-message", "-p", "-t", window, "#{window_zoomed_flag} #{pane_id}");
  t.tmux("select-pane", "-t", b.paneId ?? "");
  t.tmux("resize-pane", "-Z", "-t", b.paneId ?? "");
  for (const [left, place] of [
    ["3", a],
    ["2", d],
  ] as const) {
    expect(await end(place)).toEqual({ left: [] });
    await eventually("the end of the pane", () => panes() === left);
    await eventually("the zoom", () => zoomed() === `1 ${b.paneId}`);
  }
  await layOutTeam(t.server, TEAM, "even-vertical");
  expect(zoomed()).toBe(`1 ${b.paneId}`);
  await spawn("e");
  expect([zoomed(), panes()]).toEqual([`1 ${b.paneId}`, "3"]);
  t.tmux("resize-pane", "-Z", "-t", b.paneId ?? "");
  expect(await end(c)).toEqual({ left: [] });
  await eventually("the end of the pane", () => panes() === "2");
  expect(zoomed()).toBe(`0 ${b.paneId}`);
  expect(t.tmux("list-panes", "-t", window, "-F", "#{pane_width}")).toBe("200\n200");
});

test("zoom › of the user's pane survives the ends of the teammates next to it", async () => {
  const { t, spawn, backend, callerPane } = inside();
  t.tmux("split-window", "-d", "-v", "-l", "6", "-t", callerPane, "env", "cat");
  const layout = () => t.tmux("display-message", "-p", "-t", callerPane, "#{window_layout}");
  const before = layout();
  const places = await spawn.here("a", "b", "c");
  const [a, b, c] = places as [PlaceRecord, PlaceRecord, PlaceRecord];
  const zoomed = () =>
    t.tmux("display-message", "-p", "-t", callerPane, "#{window_zoomed_flag} #{pane_active} #{window_panes}");
  t.tmux("resize-pane", "-Z", "-t", callerPane);
  expect(zoomed()).toBe("1 1 5");
  t.tmux("send-keys", "-t", a.paneId ?? "", "exit 0", "Enter");
  await eventually("the end of a pane", () => zoomed() === "1 1 4");
  await backend.close([a]);
  expect(zoomed()).toBe("1 1 4");
  // After a crash, the pane waits until the user closes it.
  t.tmux("send-keys", "-t", b.paneId ?? "", "exit 3", "Enter");
  const screen = () => t.tmux("capture-pane", "-p", "-t", b.paneId ?? "");
  await eventually("the hint about the keys", () => screen().includes("q + Enter"));
  t.tmux("send-keys", "-t", b.paneId ?? "", "q", "Enter");
  await eventually("the end of another pane", () => zoomed() === "1 1 3");
  await backend.close([b]);
  t.tmux("send-keys", "-t", c.paneId ?? "", "exit 0", "Enter");
  await eventually("the end of the last pane", () => zoomed() === "1 1 2");
  await backend.close([c]);
  expect([zoomed(), layout()]).toEqual(["1 1 2", before]);
});

test("zoom › of a window with another stack survives the end of a teammate, and so do the sizes there", async () => {
  const { t, spawn, backend } = inside();
  const { pane: other } = t.session("other");
  const [a] = (await spawn.here("a")) as [PlaceRecord];
  const placement = { kind: "here", callerPane: other } as const;
  const [b] = placesOf(await backend.spawn([requestFor(t, "b"), requestFor(t, "c")], placement));
  t.tmux("resize-pane", "-t", b?.paneId ?? "", "-y", "10");
  t.tmux("resize-pane", "-Z", "-t", other);
  const state = () =>
    t.tmux("display-message", "-p", "-t", other, "#{window_zoomed_flag} #{window_panes} #{window_layout}");
  const before = state();
  expect(before).toMatch(/^1 3 /);
  expect(await end(a)).toEqual({ left: [] });
  await backend.close([a]);
  expect(state()).toBe(before);
});

function inside() {
  const t = privateTmux();
  const { pane: callerPane } = t.session();
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  const spawnAt =
    (kind: "team-window" | "here") =>
    async (...names: string[]): Promise<PlaceRecord[]> => {
      const requests = names.map((name): SpawnRequest => {
        const request = requestFor(t, name);
        const onPlaced = (place: PlaceRecord) => writeFileSync(request.paths.place, JSON.stringify(place));
        return { ...request, onPlaced };
      });
      return placesOf(await backend.spawn(requests, { kind, callerPane }));
    };
  return { t, backend, callerPane, spawn: Object.assign(spawnAt("team-window"), { here: spawnAt("here") }) };
}
