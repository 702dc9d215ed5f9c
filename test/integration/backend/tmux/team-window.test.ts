import { describe, expect, test } from "vitest";
import type { Placement } from "../../../../src/backend/backend.ts";
import { hidePane } from "../../../../src/backend/tmux/hide-pane.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import type { PlaceRecord } from "../../../../src/schema/status.ts";
import { end, placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

describe("a team window with a pane of the user (S67)", () => {
  test("becomes a plain window when the last teammate's pane is closed, and not before", async () => {
    const { t, backend, spawn, settings, plain, usersPane } = inside();
    const places = await spawn("team-window", "a", "b", "c");
    const window = await usersPane(places);
    const before = settings(window);
    await backend.close(places.slice(0, 2));
    expect(settings(window).hooks).toBe(before.hooks);
    expect(settings(window).name).toBe("Audit");
    await backend.close(places.slice(2));
    expect(t.tmux("list-panes", "-t", window).split("\n")).toHaveLength(1);
    expect(settings(window)).toEqual(plain());
  });

  test("becomes plain when its agents exit, even a single one, and when its panes are hidden", async () => {
    const { t, backend, spawn, settings, plain, usersPane } = inside();
    const ended = await spawn("team-window", "a", "b");
    const window = await usersPane(ended);
    for (const place of ended) await end(place);
    await eventually("their panes' end", () => t.tmux("list-panes", "-t", window).split("\n").length === 1);
    await backend.close(ended);
    expect(settings(window)).toEqual(plain());
    const apart = await spawn("window", "c");
    const own = await usersPane(apart);
    await backend.close(apart);
    expect(settings(own)).toEqual(plain());
    const hidden = await spawn("team-window", "d");
    const left = await usersPane(hidden);
    expect(await hidePane(t.server, hidden[0] as PlaceRecord, "d")).toBe("moved");
    expect(settings(left)).toEqual(plain());
  });

  test("keeps a name that the user gave it, and its tags while an untagged pane of the team is left", async () => {
    const { t, backend, spawn, settings, usersPane } = inside();
    const places = await spawn("team-window", "a", "b");
    const window = await usersPane(places);
    t.tmux("rename-window", "-t", window, "my own");
    const [a, b] = places as [PlaceRecord, PlaceRecord];
    t.tmux("set-option", "-p", "-u", "-t", b.paneId ?? "", "@teams_agent");
    await backend.close([a]);
    expect(settings(window).options).toContain("@teams_window");
    await backend.close([b]);
    expect(settings(window)).toEqual({ options: "automatic-rename off", hooks: "", name: "my own" });
  });
});

test("team window › is named and tagged when the title of its team begins with a dash", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  const spawn = async (...names: string[]): Promise<PlaceRecord[]> => {
    const requests = names.map((name) => ({ ...requestFor(t, name), teamTitle: "-- Audit" }));
    return placesOf(await backend.spawn(requests, { kind: "team-window", callerPane: pane }));
  };
  const [a, b] = (await spawn("a", "b")) as [PlaceRecord, PlaceRecord];
  const nameOf = (target = ""): string => t.tmux("display-message", "-p", "-t", target, "#{window_name}");
  expect(nameOf(a.windowId)).toBe("-- Audit");
  // A later spawn finds the window by its tags.
  const [c] = (await spawn("c")) as [PlaceRecord];
  expect([b.windowId, c.windowId]).toEqual([a.windowId, a.windowId]);
  expect(await hidePane(t.server, a, "-a")).toBe("moved");
  expect(nameOf(a.paneId)).toBe("-a");
});

function inside() {
  const t = privateTmux();
  const { pane: user } = t.session();
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  const settings = (window: string) => ({
    options: t.tmux("show-options", "-w", "-t", window),
    hooks: t
      .tmux("show-hooks", "-w", "-t", window)
      .replace(/^[\w-]+$/gm, "")
      .trim(),
    name: t.tmux("display-message", "-p", "-t", window, "#{window_name}"),
  });
  return {
    t,
    backend,
    settings,
    /** Settings of a window that never had a team; tmux names it after its program. */
    plain: () => ({
      ...settings(t.tmux("new-window", "-d", "-P", "-F", "#{window_id}", "-t", "=work:", "env", "cat")),
      name: "cat",
    }),
    async spawn(kind: Placement["kind"], ...names: string[]): Promise<PlaceRecord[]> {
      const requests = names.map((name) => requestFor(t, name));
      return placesOf(await backend.spawn(requests, { kind, callerPane: user }));
    },
    /** Splits the window for the user. @returns its id */
    async usersPane([place]: readonly PlaceRecord[]): Promise<string> {
      const words = ["-P", "-F", "#{pane_id} #{window_id}", "-t", place?.paneId ?? "", "env", "cat"];
      const [pane = "", window = ""] = t.tmux("split-window", ...words).split(" ");
      const running = () => t.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}");
      await eventually("its program", () => running() === "cat");
      return window;
    },
  };
}
