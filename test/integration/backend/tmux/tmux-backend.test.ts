import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Backend, Placement, SpawnRequest } from "../../../../src/backend/backend.ts";
import { MIN_PANE } from "../../../../src/backend/tmux/grid.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import { run } from "../../../../src/os/process/run.ts";
import type { PlaceRecord } from "../../../../src/schema/status.ts";
import { type TmuxServer, tmuxServer } from "../../../../src/tmux/server.ts";
import { isAtLeast } from "../../../../src/tmux/version.ts";
import { end, endAll, placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

describe("team panes", () => {
  test("open in one new window of the caller's session, and change nothing of the user's (S4, S67)", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    t.tmux("split-window", "-h", "-t", pane, "env", "cat");
    t.tmux("split-window", "-v", "-t", pane, "env", "cat");
    const before = state(t, pane);
    const { backend, placement, forks } = inside(t, pane);
    const outcomes = await backend.spawn(four(t), placement);
    const places = placesOf(outcomes);
    expect(forks()).toBe(3);
    expect(state(t, pane)).toEqual(before);
    expect(new Set(places.map((place) => place.windowId)).size).toBe(1);
    const [first] = places;
    expect(show(t, first, "#{session_name} #{window_name} #{window_active}")).toBe("work Audit 0");
    expect(panesOf(t, first).map((id) => nameOf(t, id))).toEqual([
      "a@audit",
      "b@audit",
      "c@audit",
      "d@audit",
    ]);
    expect(show(t, first, "#{pane_title}")).toBe("a@audit");
    await endAll(backend, outcomes);
    expect(state(t, pane)).toEqual(before);
    expect(t.tmux("list-windows", "-a").split("\n")).toHaveLength(1);
  });

  test("carry the colour of their member, as tmux names it", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const { backend, placement } = inside(t, pane);
    const colors = ["blue", "purple", "pink", "no-such-colour"];
    const requests = colors.map((color, i) => ({ ...requestFor(t, `a${i}`), color }));
    const outcomes = await backend.spawn(requests, placement);
    const shown = placesOf(outcomes).map((place) => show(t, place, "#{@teams_color}"));
    expect(shown).toEqual(["colour33", "colour135", "colour169", "default"]);
    await endAll(backend, outcomes);
  });

  test("join the team's existing panes, tiled with them", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const { backend, placement } = inside(t, pane);
    const [a] = placesOf(await backend.spawn([requestFor(t, "a")], placement));
    const [b, c] = placesOf(await backend.spawn([requestFor(t, "b"), requestFor(t, "c")], placement));
    expect(b?.windowId).toBe(a?.windowId);
    expect(panesOf(t, a)).toEqual([a?.paneId, b?.paneId, c?.paneId]);
    expect(layoutOf(t, a)).toEqual(["100x24 at 0,1", "99x24 at 101,1", "200x24 at 0,26"]);
    // A team of the same name in another root gets its own window.
    const [other] = placesOf(
      await backend.spawn([{ ...requestFor(t, "z"), rootTag: "ba9876543210" }], placement),
    );
    expect(other?.windowId).not.toBe(a?.windowId);
  });

  test("share one window even when many are spawned at once (S14)", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const spawns = Array.from({ length: 8 }, (_, i) => {
      const { backend, placement } = inside(t, pane);
      return backend.spawn([requestFor(t, `n${i}`)], placement);
    });
    const places = placesOf((await Promise.all(spawns)).flat());
    expect([...groupByWindow(places).values()].map((group) => group.length)).toEqual([8]);
    expect(t.tmux("list-windows", "-a").split("\n")).toHaveLength(2);
  });

  test("fill windows of two at 80×24, none below the minimum size (S8)", async () => {
    const t = privateTmux();
    const { pane } = t.session("work", { width: 80, height: 24 });
    const { backend, placement, forks } = inside(t, pane);
    const requests = Array.from({ length: 12 }, (_, i) => requestFor(t, `n${i}`));
    const places = placesOf(await backend.spawn(requests, placement));
    expect(forks()).toBe(3);
    const windows = groupByWindow(places);
    expect([...windows.values()].map((group) => group.length)).toEqual([2, 2, 2, 2, 2, 2]);
    const names = () => t.tmux("list-windows", "-F", "#{window_name}", "-t", "=work:").split("\n").slice(1);
    expect(names()).toEqual(["Audit", "Audit-2", "Audit-3", "Audit-4", "Audit-5", "Audit-6"]);
    t.tmux("rename-window", "-t", places[2]?.windowId ?? "", "mine too");
    const more = placesOf(await backend.spawn([requestFor(t, "m"), requestFor(t, "n")], placement));
    expect(more.map((place) => show(t, place, "#{window_name}"))).toEqual(["Audit-2", "Audit-2"]);
    for (const place of places) {
      const [width = 0, height = 0] = show(t, place, "#{pane_width} #{pane_height}").split(" ").map(Number);
      expect(width).toBeGreaterThanOrEqual(MIN_PANE.width);
      expect(height).toBeGreaterThanOrEqual(MIN_PANE.height);
    }
  });

  test("open in the caller's session, not in the session that a client shows (S6)", async () => {
    const t = privateTmux();
    const { pane } = t.session("a");
    t.session("b");
    await t.attach("=b");
    const { backend, placement } = inside(t, pane);
    const [place] = placesOf(await backend.spawn([requestFor(t, "one")], placement));
    expect(show(t, place, "#{session_name}")).toBe("a");
  });

  test("take no keys and no focus while the user types (S5)", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const person = await t.attach("=work");
    const { backend, placement } = inside(t, pane);
    const keys = Array.from({ length: 200 }, (_, i) => String.fromCharCode(97 + (i % 26))).join("");
    const spawning = backend.spawn(four(t), placement);
    for (const key of keys) {
      person.type("-l", key);
      // The spawn continues between two keys.
      await new Promise((resolve) => setImmediate(resolve));
    }
    placesOf(await spawning);
    await eventually("all keys", () => t.tmux("capture-pane", "-p", "-J", "-t", pane).includes(keys));
    expect(t.tmux("display-message", "-p", "-t", "=work:", "#{pane_id}")).toBe(pane);
  });
});

describe("panes in their own windows", () => {
  test("are named after agent and team, tagged and framed, with three tmux calls for any number", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const before = state(t, pane);
    const { backend, forks } = inside(t, pane);
    const window: Placement = { kind: "window", callerPane: pane };
    const outcomes = await backend.spawn([requestFor(t, "a #(x)"), requestFor(t, "b")], window);
    expect(forks()).toBe(3);
    const [a, b] = placesOf(outcomes);
    for (const place of [a, b]) {
      expect(show(t, place, "#{session_name} #{window_panes} #{window_active}")).toBe("work 1 0");
      const tag = `${place?.windowId}/0123456789ab/audit`;
      expect(show(t, place, "#{pane-border-status} #{@teams_window}")).toBe(`top ${tag}`);
      expect(place?.placement).toBe("window");
    }
    expect(show(t, a, "#{window_name}").replace("##", "#")).toBe("a #(x)@Audit");
    expect(show(t, b, "#{pane_title} #{window_name}")).toBe("b@audit b@Audit");
    await endAll(backend, outcomes);
    expect(state(t, pane)).toEqual(before);
  });

  test("are never shared, and create only the team's session outside tmux", async () => {
    const t = privateTmux();
    const { backend, placement } = inside(t);
    const alone = placesOf(await backend.spawn([requestFor(t, "a"), requestFor(t, "b")], { kind: "window" }));
    const shared = placesOf(await backend.spawn([requestFor(t, "c"), requestFor(t, "d")], placement));
    expect([...groupByWindow([...alone, ...shared]).values()].map((group) => group.length)).toEqual([
      1, 1, 2,
    ]);
    expect(t.tmux("list-sessions", "-F", "#{session_name}")).toBe("teams-audit");
  });
});

describe("panes beside the caller", () => {
  test("stack evenly at the caller's right, and return the space when they close", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const before = state(t, pane);
    const { backend, forks } = inside(t, pane);
    const here: Placement = { kind: "here", callerPane: pane };
    const first = await backend.spawn([requestFor(t, "a"), requestFor(t, "b"), requestFor(t, "c")], here);
    expect(forks()).toBe(3);
    const unevenness = (outcomes: typeof first) => {
      const heights = placesOf(outcomes).map((place) => Number(show(t, place, "#{pane_height}")));
      return Math.max(...heights) - Math.min(...heights);
    };
    expect(unevenness(first)).toBeLessThanOrEqual(2);
    const lead = t.tmux("display-message", "-p", "-t", pane, "#{pane_width}x#{pane_height} #{pane_active}");
    const more = await backend.spawn([requestFor(t, "d")], here);
    expect(t.tmux("display-message", "-p", "-t", pane, "#{pane_width}x#{pane_height} #{pane_active}")).toBe(
      lead,
    );
    expect(panesOf(t, { paneId: pane } as PlaceRecord).map((id) => nameOf(t, id))).toEqual([
      "",
      "a@audit",
      "b@audit",
      "c@audit",
      "d@audit",
    ]);
    expect(unevenness([...first, ...more])).toBeLessThanOrEqual(3);
    expect(t.tmux("list-windows", "-a").split("\n")).toHaveLength(1);
    await endAll(backend, [...first, ...more]);
    expect(state(t, pane)).toEqual(before);
  });

  test("stack below a single teammate although its pane has made the caller narrow", async () => {
    const t = privateTmux();
    const { pane } = t.session("work", { width: 100, height: 40 });
    const { backend } = inside(t, pane);
    for (const name of ["a", "b"]) {
      const [outcome] = await backend.spawn([requestFor(t, name)], { kind: "here", callerPane: pane });
      expect(outcome).toMatchObject({ ok: true });
      expect(outcome).not.toHaveProperty("notHere");
    }
    expect(panesOf(t, { paneId: pane } as PlaceRecord).map((id) => nameOf(t, id))).toEqual([
      "",
      "a@audit",
      "b@audit",
    ]);
  });

  test("overflow into the team window when there is no room", async () => {
    const t = privateTmux();
    const { pane } = t.session("work", { width: 100, height: 24 });
    const { backend } = inside(t, pane);
    const places = placesOf(await backend.spawn(four(t), { kind: "here", callerPane: pane }));
    expect([...groupByWindow(places).values()].map((group) => group.length)).toEqual([2, 2]);
    expect(show(t, places[3], "#{window_name}")).toBe("Audit");
  });

  test("say why they are elsewhere: no room, a zoom, or no such pane", async () => {
    const t = privateTmux();
    const { pane } = t.session("work", { width: 120, height: 40 });
    t.tmux("split-window", "-d", "-h", "-t", pane, "env", "cat");
    const { backend } = inside(t, pane);
    const here = async (name: string, callerPane: string) => {
      const [outcome] = await backend.spawn([requestFor(t, name)], { kind: "here", callerPane });
      return outcome?.ok ? [outcome.notHere, show(t, outcome.place, "#{window_name}")] : outcome;
    };
    expect(await here("a", pane)).toEqual(["no room", "Audit"]);
    t.tmux("resize-pane", "-x", "100", "-t", pane);
    t.tmux("resize-pane", "-Z", "-t", pane);
    expect(await here("b", pane)).toEqual(["zoomed", "Audit"]);
    expect(t.tmux("display-message", "-p", "-t", pane, "#{window_zoomed_flag} #{window_panes}")).toBe("1 2");
    expect(await here("c", "%99")).toEqual(["no pane", "Audit"]);
    t.tmux("resize-pane", "-Z", "-t", pane);
    expect(await here("d", pane)).toEqual([undefined, "mine"]);
  });
});

describe("panes without a caller's pane", () => {
  test("open in a detached session of the team, which leaks no environment", async () => {
    const t = privateTmux();
    const backend = tmuxPaneBackend({ server: t.server, env: t.env });
    const request = requestFor(t, "one", { env: { SECRET: "s3cret" } });
    const [place] = placesOf(await backend.spawn([request], { kind: "team-window" }));
    expect(show(t, place, "#{session_name} #{window_name} #{window_width}x#{window_height}")).toMatch(
      /^teams-audit Audit 200x(49|50)$/,
    );
    expect(t.tmux("show-environment", "-t", "=teams-audit:")).not.toMatch(/SECRET|TEAMS_INSTANCE/);
    expect(t.tmux("show-environment", "-g")).not.toMatch(/SECRET|TEAMS_INSTANCE|CLAUDECODE=/);
    const [more] = placesOf(await backend.spawn([requestFor(t, "two")], { kind: "team-window" }));
    expect(more?.windowId).toBe(place?.windowId);
  });

  test("leave a user's session with the team's name alone", async () => {
    const t = privateTmux();
    t.session("teams-audit");
    // A copy of our tag does not make the session ours.
    t.tmux("set-option", "-g", "@teams_session", "0123456789ab/audit");
    t.tmux("set-option", "-t", "=teams-audit:", "@teams_session", "$9/0123456789ab/audit");
    const backend = tmuxPaneBackend({ server: t.server, env: t.env });
    const [place] = placesOf(await backend.spawn([requestFor(t, "one")], { kind: "session" }));
    expect(show(t, place, "#{session_name}")).toBe("teams-audit-2");
    const [more] = placesOf(await backend.spawn([requestFor(t, "two")], { kind: "session" }));
    expect(more?.windowId).toBe(place?.windowId);
  });
});

test("tmux backend › knows and closes a dead pane, even if tmux names no process for it (3.8)", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  const { backend, placement } = inside(t, pane);
  const [place] = placesOf(await backend.spawn([requestFor(t, "one")], placement)) as [PlaceRecord];
  t.tmux("set-option", "-p", "-t", place.paneId ?? "", "remain-on-exit", "on");
  expect(await end(place)).toEqual({ left: [] });
  await eventually("the dead pane", () => show(t, place, "#{pane_dead}") === "1");
  expect(await backend.present([place])).toEqual(new Set([place.instance]));
  await backend.close([place]);
  expect(t.tmux("list-panes", "-a", "-F", "#{pane_id}")).toBe(pane);
});

test("tmux backend › names the socket setting when the server cannot be started", async (context) => {
  const t = privateTmux();
  context.skip(!isAtLeast(await t.server.version(), 3, 3), "tmux 3.2 prints no reason");
  const server = tmuxServer({ socket: { name: "no/such/socket" }, env: t.env });
  const backend = tmuxPaneBackend({ server, env: t.env });
  const [refused] = await backend.spawn([requestFor(t, "one")], { kind: "team-window" });
  const hint = expect.stringContaining("$TEAMS_TMUX_SOCKET");
  expect(refused).toMatchObject({ ok: false, error: { code: "TMUX_ERROR", hint } });
});

test("tmux backend › fails only the teammate whose failed start cannot be cleaned up", async () => {
  const t = privateTmux();
  const server: TmuxServer = {
    ...t.server,
    async batch(lines, options) {
      if (JSON.stringify(lines).includes("kill-pane")) throw new Error("no pane can be closed");
      return t.server.batch(lines, options);
    },
  };
  const requests = [requestFor(t, "good"), requestFor(t, "bad", { argv: ["/no/such/thing"] })];
  const spawning = tmuxPaneBackend({ server, env: t.env }).spawn(requests, { kind: "team-window" });
  const [good, bad] = await spawning;
  expect(bad).toMatchObject({
    ok: false,
    error: {
      code: "SPAWN_FAILED",
      message: expect.stringMatching(/exit code 127[\s\S]*not fully cleaned up: no pane can be closed\.$/),
    },
  });
  expect(existsSync(requests[1]?.paths.launchScript ?? "")).toBe(false);
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  await endAll(backend, good === undefined ? [] : [good]);
});

describe.each(["habits", "keeps", "no-shell", "bare"])(
  'with the user\'s tmux configuration "%s"',
  (config) => {
    test.each(["inside", "outside"])(
      "a team starts and ends cleanly, called from %s tmux (S3, S7)",
      async (where) => {
        const t = privateTmux({ config });
        const user = t.session();
        const before = state(t, user.pane);
        const caller = where === "inside" ? user.pane : undefined;
        const { backend, placement } = inside(t, caller);
        const outcomes = await backend.spawn(four(t), placement);
        const [first] = placesOf(outcomes);
        expect(show(t, first, "#{window_name}")).toBe("Audit");
        const [bad] = await backend.spawn([requestFor(t, "bad", { argv: ["/no/such/thing"] })], placement);
        expect(bad).toMatchObject({ ok: false, error: { code: "SPAWN_FAILED" } });
        await endAll(backend, outcomes);
        expect(state(t, user.pane)).toEqual(before);
        expect(t.tmux("list-panes", "-a").split("\n")).toHaveLength(1);
      },
    );
  },
);

describe("text from outside", () => {
  test("is shown literally in window names and borders, and never executed (S30, S74)", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const hostile = `#(touch ${join(t.home, "pwned")}) #{pane_id} #[fg=red]x`;
    const { backend, placement } = inside(t, pane);
    const request = { ...requestFor(t, "h"), agentId: `${hostile}@audit`, teamTitle: hostile };
    const [place] = placesOf(await backend.spawn([request], placement));
    const person = await t.attach("=work");
    t.tmux("select-window", "-t", place?.windowId ?? "");
    // The status line has the same text, and may be drawn first.
    await eventually("the border", () => person.screen().split("\n")[0]?.includes(hostile));
    expect(show(t, place, "#{window_name}").replace("##[", "#[")).toBe(hostile);
    expect(existsSync(join(t.home, "pwned"))).toBe(false);
  });
});

describe("pane ownership", () => {
  test("requires tag, process and server to match before a pane is closed or read (S39)", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const { backend, placement } = inside(t, pane);
    const [place] = placesOf(await backend.spawn([requestFor(t, "one")], placement));
    if (place === undefined) throw new Error("no place");
    const strangers: PlaceRecord[] = [
      { ...place, paneId: pane },
      { ...place, panePid: (place.panePid ?? 0) + 1 },
      { ...place, instance: "00000000-0000-4000-8000-000000000000" },
      { ...place, server: { socket: place.server?.socket ?? "", pid: 1, procStart: "1" } },
      { ...place, paneId: "%999" },
      { ...place, paneId: "work" },
    ];
    await backend.close(strangers);
    for (const stranger of strangers) expect(await backend.capture(stranger, 5)).toBeUndefined();
    expect(await backend.present(strangers)).toEqual(new Set());
    expect(t.tmux("list-panes", "-a").split("\n")).toHaveLength(2);
    expect(await backend.present([place])).toEqual(new Set([place.instance]));
  });

  test("follows a pane that the user moved, and gives up a pane that the user respawned", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const { backend, placement } = inside(t, pane);
    const [moved, taken] = placesOf(await backend.spawn([requestFor(t, "a"), requestFor(t, "b")], placement));
    t.tmux("join-pane", "-d", "-s", moved?.paneId ?? "", "-t", pane);
    t.tmux("respawn-pane", "-k", "-t", taken?.paneId ?? "", "env", "cat");
    const places = [moved, taken].filter((place) => place !== undefined);
    expect(await backend.present(places)).toEqual(new Set([moved?.instance]));
    await backend.close(places);
    const left = t.tmux("list-panes", "-a", "-F", "#{pane_id}").split("\n");
    expect(left).toContain(taken?.paneId);
    expect(left).not.toContain(moved?.paneId);
  });

  test("finds nothing without the server, and starts none", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const { backend, placement } = inside(t, pane);
    const [place] = placesOf(await backend.spawn([requestFor(t, "one")], placement));
    if (place === undefined) throw new Error("no place");
    await t.killServer();
    expect(await backend.present([place])).toEqual(new Set());
    expect(await backend.capture(place, 5)).toBeUndefined();
    await backend.close([place]);
    expect(() => t.tmux("list-sessions")).toThrow();
    await eventually("the exit record", () => existsSync(requestPaths(t).exit));
    expect(JSON.parse(readFileSync(requestPaths(t).exit, "utf8"))).toMatchObject({ code: 129 });
  });
});

function requestPaths(t: PrivateTmux) {
  return t.paths("audit").agent("one");
}

/** Returns a backend for a caller in this pane, and a counter of its tmux calls. */
function inside(
  t: PrivateTmux,
  pane?: string,
): { backend: Backend; placement: Placement; forks: () => number } {
  let forks = 0;
  const env = pane === undefined ? t.env : t.inside(pane);
  const counted: typeof run = (...args) => {
    forks += 1;
    return run(...args);
  };
  const { socket } = t.server;
  const server = tmuxServer({ ...(socket === undefined ? {} : { socket }), env, run: counted });
  return {
    backend: tmuxPaneBackend({ server, env }),
    placement: { kind: "team-window", ...(pane === undefined ? {} : { callerPane: pane }) },
    forks: () => forks,
  };
}

function four(t: PrivateTmux): SpawnRequest[] {
  return ["a", "b", "c", "d"].map((name) => requestFor(t, name));
}

/** Returns everything that a spawn must not change: the user's window, focus, sizes, global options and hooks. */
function state(t: PrivateTmux, pane: string): unknown {
  return {
    layout: t.tmux("display-message", "-p", "-t", pane, "#{window_layout}"),
    active: t.tmux("list-panes", "-t", pane, "-F", "#{pane_id} #{pane_active} #{pane_width}x#{pane_height}"),
    window: t.tmux("display-message", "-p", "-t", pane, "#{window_index} #{window_name} #{window_active}"),
    options: ["-g", "-gw", "-s", "-gH"].map((scope) => t.tmux("show-options", scope)),
    windowOptions: t.tmux("show-options", "-w", "-t", pane),
    environment: t.tmux("show-environment", "-g"),
  };
}

function show(t: PrivateTmux, place: PlaceRecord | undefined, format: string): string {
  return t.tmux("display-message", "-p", "-t", place?.paneId ?? "%none", format);
}

function nameOf(t: PrivateTmux, pane: string): string {
  return t.tmux("display-message", "-p", "-t", pane, "#{@teams_agent_id}");
}

function panesOf(t: PrivateTmux, place: PlaceRecord | undefined): string[] {
  return t.tmux("list-panes", "-t", place?.paneId ?? "%none", "-F", "#{pane_id}").split("\n");
}

function layoutOf(t: PrivateTmux, place: PlaceRecord | undefined): string[] {
  const format = "#{pane_width}x#{pane_height} at #{pane_left},#{pane_top}";
  return t.tmux("list-panes", "-t", place?.paneId ?? "%none", "-F", format).split("\n");
}

function groupByWindow(places: readonly PlaceRecord[]): Map<string, PlaceRecord[]> {
  const groups = new Map<string, PlaceRecord[]>();
  for (const place of places) {
    const window = place.windowId ?? "";
    groups.set(window, [...(groups.get(window) ?? []), place]);
  }
  return groups;
}
