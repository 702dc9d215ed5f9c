import { expect, test } from "vitest";
import { layOutTeam } from "../../../../src/backend/tmux/apply-layout.ts";
import { LAYOUTS } from "../../../../src/backend/tmux/layout-commands.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import type { PlaceRecord } from "../../../../src/schema/status.ts";
import { end, placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

const TEAM = { team: "audit", rootTag: "0123456789ab" };
const LARGE = { width: 200, height: 50 };
const OTHER = { width: 160, height: 40 };
/** So small that tmux forgets the proportions; on the way back all panes get the same size. */
const SMALL = { width: 10, height: 5 };

test("team layout › is restored at each size when the client shrinks and grows", async () => {
  const { t, window, resized } = await watchedTeam();
  expect(sizes(t, window)).toEqual(["66x23", "66x23", "66x23", "100x24", "99x24"]);
  const layout = () => t.tmux("display-message", "-p", "-t", window, "#{window_layout}");
  const planned = layout();
  await resized(OTHER);
  const smaller = await eventually("the layout at another size", () => {
    const [first, second, third] = sizes(t, window);
    return first?.startsWith("52x") && second?.startsWith("53x") && third?.startsWith("53x") && layout();
  });
  for (const [size, wanted] of [
    [LARGE, planned],
    [OTHER, smaller],
  ] as const) {
    await resized(SMALL);
    await resized(size);
    await eventually(`the layout of ${size.width}×${size.height}`, () => layout() === wanted);
  }
});

test("team layout › is redone when a pane ends, and the user's own pane sizes stay until then", async () => {
  const { t, window, places, backend, resized } = await watchedTeam();
  const pane = (index: number) => places[index]?.paneId ?? "";
  t.tmux("resize-pane", "-t", pane(0), "-x", "90");
  await end(places[4] as PlaceRecord);
  await eventually("two rows of two", () => sizes(t, window).join(" ") === "100x23 99x23 100x24 99x24");
  t.tmux("resize-pane", "-t", pane(0), "-x", "120");
  t.tmux("select-pane", "-t", pane(1));
  expect(sizes(t, window)[0]).toBe("120x23");
  t.tmux("kill-pane", "-t", pane(1));
  await eventually("two and one", () => sizes(t, window).join(" ") === "100x23 99x23 200x24");
  await backend.close([places[2] as PlaceRecord]);
  await eventually("two", () => sizes(t, window).join(" ") === "100x48 99x48");
  await resized(SMALL);
  await resized(LARGE);
  await eventually("two again", () => sizes(t, window).join(" ") === "100x48 99x48");
  t.tmux("kill-pane", "-t", pane(3));
  expect(sizes(t, window)).toEqual(["200x48"]);
});

test("team layout › is redone in a detached window, too", async () => {
  const t = privateTmux();
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  const requests = ["a", "b", "c", "d"].map((name) => requestFor(t, name));
  const places = placesOf(await backend.spawn(requests, { kind: "session" }));
  await backend.close(places.slice(0, 1));
  const window = places[1]?.windowId ?? "";
  await eventually("two and one", () => /^100x2\d 99x2\d 200x2\d$/.test(sizes(t, window).join(" ")));
});

test("team layout › keeps the user's zoom and extra panes when the client shrinks and grows", async () => {
  const { t, window, places, resized } = await watchedTeam();
  t.tmux("resize-pane", "-Z", "-t", places[1]?.paneId ?? "");
  await resized(SMALL);
  await resized(LARGE);
  expect(t.tmux("display-message", "-p", "-t", window, "#{window_zoomed_flag}")).toBe("1");
  t.tmux("resize-pane", "-Z", "-t", places[1]?.paneId ?? "");
  t.tmux("split-window", "-d", "-h", "-t", places[1]?.paneId ?? "", "env", "cat");
  await resized(SMALL);
  await resized(LARGE);
  expect(sizes(t, window)).toHaveLength(6);
  expect(t.tmux("show-messages", "-t", t.tmux("list-clients", "-F", "#{client_name}"))).not.toContain(
    "but need",
  );
});

test("team layout › leaves a window with a user's pane to the user", async () => {
  const { t, window, places, backend, resized } = await watchedTeam();
  t.tmux("split-window", "-d", "-h", "-t", places[4]?.paneId ?? "", "env", "cat");
  const layout = () => t.tmux("display-message", "-p", "-t", window, "#{window_layout}");
  await backend.close(places.slice(0, 2));
  t.tmux("select-layout", "-t", window, "even-vertical");
  const parted = layout();
  await resized(OTHER);
  await resized(LARGE);
  expect(layout()).toBe(parted);
  await backend.close(places.slice(2));
  t.tmux("split-window", "-d", "-v", "-l", "5", "-t", window, "env", "cat");
  expect(sizes(t, window)).toEqual(["200x43", "200x5"]);
});

test("team layout › ignores a user's window with copied tags (rule 5)", async () => {
  const { t, user, window, backend } = await watchedTeam();
  for (const where of [["-w", "-t", user], ["-gw"]])
    for (const tag of ["@teams_window", "@teams_team", "@teams_root"])
      t.tmux("set-option", ...where, tag, t.tmux("show-options", "-wv", "-t", window, tag));
  t.tmux("split-window", "-d", "-h", "-l", "50", "-t", user, "env", "cat");
  const mine = t.tmux("display-message", "-p", "-t", user, "#{window_layout}");
  expect(await layOutTeam(t.server, TEAM, "even-vertical")).toEqual({ shared: 1, apart: 0 });
  const requests = ["f", "g", "h", "i", "j"].map((name) => requestFor(t, name));
  const places = placesOf(await backend.spawn(requests, { kind: "team-window", callerPane: user }));
  const theirs = t.tmux("display-message", "-p", "-t", user, "#{window_id}");
  expect(places.map(({ windowId }) => windowId)).not.toContain(theirs);
  expect(t.tmux("display-message", "-p", "-t", user, "#{window_layout}")).toBe(mine);
});

test("team layout › counts panes once when the window is linked into two sessions", async () => {
  const { t, user, window, backend } = await watchedTeam();
  t.session("second");
  t.tmux("link-window", "-d", "-s", window, "-t", "=second:");
  placesOf(await backend.spawn([requestFor(t, "f")], { kind: "team-window", callerPane: user }));
  expect(new Set(sizes(t, window))).toEqual(new Set(["66x23", "66x24"]));
});

test("layOutTeam › applies to the team's windows only, persists, and includes panes that join later", async () => {
  const { t, user, window, backend, resized } = await watchedTeam();
  t.tmux("split-window", "-d", "-h", "-t", user, "env", "cat");
  const mine = t.tmux("display-message", "-p", "-t", user, "#{window_layout}");
  expect(await layOutTeam(t.server, { ...TEAM, team: "other" }, "even-vertical")).toEqual({
    shared: 0,
    apart: 0,
  });
  expect(await layOutTeam(t.server, TEAM, "main-vertical")).toEqual({ shared: 1, apart: 0 });
  const main = (others: string) => new RegExp(`^80x48( ${others}){4,5}$`);
  expect(sizes(t, window).join(" ")).toMatch(main("119x\\d+"));
  await resized({ width: 30, height: 12 });
  await resized(LARGE);
  await eventually("the team's layout", () => main("119x\\d+").test(sizes(t, window).join(" ")));
  placesOf(await backend.spawn([requestFor(t, "f")], { kind: "team-window", callerPane: user }));
  expect(sizes(t, window)).toHaveLength(6);
  expect(sizes(t, window).join(" ")).toMatch(main("119x\\d+"));
  expect(await layOutTeam(t.server, TEAM, "grid")).toEqual({ shared: 1, apart: 0 });
  expect(new Set(sizes(t, window))).toEqual(new Set(["66x23", "66x24"]));
  expect(t.tmux("display-message", "-p", "-t", user, "#{window_layout}")).toBe(mine);
});

test.each(LAYOUTS)("layOutTeam › makes no pane below 20×5 in a window of 80×24 (%s)", async (layout) => {
  const { t, window, backend, places, resized } = await watchedTeam();
  const tooSmall = () =>
    sizes(t, window).filter((size) => {
      const [width = 0, height = 0] = size.split("x").map(Number);
      return width < 20 || height < 5;
    });
  expect(await layOutTeam(t.server, TEAM, layout)).toEqual({ shared: 1, apart: 0 });
  await resized({ width: 80, height: 25 });
  await eventually("readable panes after the resize", () => tooSmall().length === 0);
  // Undo the layout of the hook.
  t.tmux("select-layout", "-t", window, "even-horizontal");
  expect(tooSmall()).toHaveLength(5);
  expect(await layOutTeam(t.server, TEAM, layout)).toEqual({ shared: 1, apart: 0 });
  expect(tooSmall()).toEqual([]);
  await backend.close(places.slice(3));
  await eventually(
    "readable panes after two have ended",
    () => sizes(t, window).length === 3 && tooSmall().length === 0,
  );
});

test.each(LAYOUTS)(
  "layOutTeam › puts no pane outside a window that is too low for the layout (%s)",
  async (layout) => {
    const { t, window, resized } = await watchedTeam();
    await resized({ width: 60, height: 9 });
    expect(await layOutTeam(t.server, TEAM, layout)).toEqual({ shared: 1, apart: 0 });
    const ends = t.tmux("list-panes", "-t", window, "-F", "#{pane_right} #{pane_bottom}").split("\n");
    for (const end of ends) {
      const [right = 0, bottom = 0] = end.split(" ").map(Number);
      expect([right < 60, bottom < 8], end).toEqual([true, true]);
    }
  },
);

test("layout hook › is set on the team window only: not on server, session or the user's window", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  const hooks = () =>
    [["-g"], ["-gw"], ["-t", "=work:"], ["-w", "-t", pane]].map((where) => t.tmux("show-hooks", ...where));
  const before = hooks();
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  placesOf(await backend.spawn([requestFor(t, "one")], { kind: "team-window", callerPane: pane }));
  expect(hooks()).toEqual(before);
});

/** Returns five teammates in a window that an attached user sees, with all panes at their planned places. */
async function watchedTeam() {
  const t = privateTmux();
  const { pane } = t.session();
  const person = await t.attach("=work");
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  const requests = ["a", "b", "c", "d", "e"].map((name) => requestFor(t, name));
  const places = placesOf(await backend.spawn(requests, { kind: "team-window", callerPane: pane }));
  const window = places[0]?.windowId ?? "";
  t.tmux("select-window", "-t", window);
  return {
    t,
    user: pane,
    backend,
    window,
    places,
    async resized(size: typeof LARGE) {
      person.resize(size);
      // The status line takes one row.
      const shown = `${size.width}x${size.height - 1}`;
      await eventually(
        `a window of ${shown}`,
        () => t.tmux("display-message", "-p", "-t", window, "#{window_width}x#{window_height}") === shown,
      );
    },
  };
}

function sizes(t: ReturnType<typeof privateTmux>, window: string): string[] {
  return t.tmux("list-panes", "-t", window, "-F", "#{pane_width}x#{pane_height}").split("\n");
}
