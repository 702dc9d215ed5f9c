import { describe, expect, test } from "vitest";
import type { Placement } from "../../../../src/backend/backend.ts";
import { focusPane } from "../../../../src/backend/tmux/focus-pane.ts";
import {
  closeSidebarPane,
  openSidebarPane,
  SIDEBAR_WIDTH,
} from "../../../../src/backend/tmux/sidebar-pane.ts";
import { openTeamSession } from "../../../../src/backend/tmux/team-session.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import { tmuxCaller } from "../../../../src/tmux/current-client.ts";
import { placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

const TEAM = { team: "audit", rootTag: "0123456789ab" };

describe("Going to a teammate's pane", () => {
  test("switches the caller's client to its session, window and pane, and nobody else's", async () => {
    const t = privateTmux();
    const caller = t.session("work");
    const other = t.session("other");
    const person = await t.attach("=work");
    const [one, two] = await spawnTwo(t, { kind: "session" });
    // A zoom of the neighbour would hide the pane.
    t.tmux("resize-pane", "-Z", "-t", one.paneId ?? "");
    expect(await focusPane(t.server, two, tmuxCaller(t.inside(caller.pane)))).toEqual({ kind: "switched" });
    await eventually("the pane on the person's screen", () =>
      person.screen().includes(`ready: ${two.instance}`),
    );
    const shown = t.tmux("list-clients", "-F", "#{session_name} #{window_id} #{pane_id}");
    expect(shown).toBe(`teams-audit ${two.windowId} ${two.paneId}`);
    expect(t.tmux("display-message", "-p", "-t", two.paneId ?? "", "#{window_zoomed_flag}")).toBe("0");
    expect(t.tmux("display-message", "-p", "-t", other.pane, "#{window_active}")).toBe("1");
  });

  test("leaves the zoom of the pane itself, and the session of a client that has its window too", async () => {
    const t = privateTmux();
    const caller = t.session("work");
    const [one, two] = await spawnTwo(t, { kind: "session" });
    // The team's window is linked into the person's session, where it is shown then.
    t.tmux("link-window", "-d", "-s", two.windowId ?? "", "-t", "=work:9");
    const person = await t.attach("=work");
    t.tmux("resize-pane", "-Z", "-t", two.paneId ?? "");
    expect(await focusPane(t.server, two, tmuxCaller(t.inside(caller.pane)))).toEqual({ kind: "switched" });
    await eventually("the pane", () => person.screen().includes(`ready: ${two.instance}`));
    const shown = () =>
      t.tmux("list-clients", "-F", "#{session_name}:#{window_index} #{pane_id} #{window_zoomed_flag}");
    expect(shown()).toBe(`work:9 ${two.paneId} 1`);
    expect(await focusPane(t.server, one, tmuxCaller(t.inside(caller.pane)))).toEqual({ kind: "switched" });
    expect(shown()).toBe(`work:9 ${one.paneId} 0`);
  });

  test("switches the client of a caller without a pane, a popup, by its session", async () => {
    const t = privateTmux();
    const { pane } = t.session("work");
    await t.attach("=work");
    const [one] = await spawnTwo(t, { kind: "session" });
    const session = t.tmux("display-message", "-p", "-t", pane, "#{s/[$]//:session_id}");
    const { TMUX = "" } = t.inside(pane);
    const popup = tmuxCaller({ TMUX: TMUX.replace(/,0$/, `,${session}`) });
    expect(await focusPane(t.server, one, popup)).toEqual({ kind: "switched" });
    expect(t.tmux("list-clients", "-F", "#{pane_id}")).toBe(one.paneId);
  });

  test("switches nobody for a caller of another server, whose pane has the id of one here (S39)", async () => {
    const [t, other] = [privateTmux(), privateTmux()];
    const { pane } = t.session("work");
    const look = other.session("elsewhere");
    expect(look.pane).toBe(pane);
    await t.attach("=work");
    const [one] = await spawnTwo(t, { kind: "team-window", callerPane: pane });
    const outcome = await focusPane(t.server, one, tmuxCaller(other.inside(look.pane)));
    const argv = ["env", "-u", "TMUX", "tmux", ...t.server.socketArgs, "attach-session"];
    expect(outcome).toEqual({
      kind: "command",
      why: "elsewhere",
      argv: [...argv, "-t", `=work:${one.windowId}.${one.paneId}`],
    });
    expect(t.tmux("list-clients", "-F", "#{pane_id}")).toBe(pane);
    // It does what it says: a tmux in a pane of the other one.
    if (outcome.kind !== "command") throw new Error("no command");
    const words = [...outcome.argv.slice(0, 3), `TMUX_TMPDIR=${t.env.TMUX_TMPDIR}`, ...outcome.argv.slice(3)];
    other.tmux("new-window", "-d", "-t", "=elsewhere:", "-e", "TERM=screen", "--", ...words);
    await eventually("the client", () =>
      t.tmux("list-clients", "-F", "#{pane_id}").includes(one.paneId ?? "?"),
    );
  });

  test("is the exact command where no client of the caller's can be switched", async () => {
    const t = privateTmux();
    const { pane } = t.session("work");
    const [one, two] = await spawnTwo(t, { kind: "team-window", callerPane: pane });
    for (const caller of [undefined, pane, "%999"]) {
      const viewer = caller === undefined ? undefined : tmuxCaller({ ...t.inside(pane), TMUX_PANE: caller });
      const outcome = await focusPane(t.server, two, viewer);
      expect(outcome).toEqual({
        kind: "command",
        why: caller === undefined ? "outside" : "unseen",
        argv: ["tmux", ...t.server.socketArgs, "attach-session", "-t", `=work:${two.windowId}.${two.paneId}`],
      });
    }
    const outcome = await focusPane(t.server, one);
    if (outcome.kind !== "command") throw new Error("no command");
    const outside = privateTmux({ config: "set -g status off" });
    const words = outcome.argv.slice(1);
    outside.tmux(
      ...[
        "new-session",
        "-d",
        "-s",
        "p",
        "-x",
        "120",
        "-y",
        "40",
        "-e",
        `TMUX_TMPDIR=${t.env.TMUX_TMPDIR}`,
        "-e",
        "TERM=screen",
      ],
      ...["--", "env", "-u", "TMUX", "tmux", ...words],
    );
    await eventually("the client", () => t.tmux("list-clients", "-F", "#{pane_id}") === one.paneId);
  });

  test("says that it is gone when it is, or is somebody else's now", async () => {
    const t = privateTmux();
    const { pane } = t.session("work");
    const [one] = await spawnTwo(t, { kind: "team-window", callerPane: pane });
    expect(await focusPane(t.server, { ...one, paneId: pane })).toEqual({ kind: "gone" });
    await t.killServer();
    expect(await focusPane(t.server, one)).toEqual({ kind: "gone" });
  });
});

describe("The sidebar's pane", () => {
  test("opens at the right of the caller without taking its focus, and gives its room back", async () => {
    const t = privateTmux();
    const { pane } = t.session("work");
    t.tmux("split-window", "-d", "-v", "-t", pane, "env", "cat");
    const before = t.tmux("display-message", "-p", "-t", pane, "#{window_layout}");
    const request = { ...TEAM, neighbour: pane, argv: ["env", "cat"], env: { SIDE: "bar" } };
    const sidebar = await openSidebarPane(t.server, request);
    const [left, width, height] = t
      .tmux("display-message", "-p", "-t", sidebar, "#{pane_left} #{pane_width} #{pane_height}")
      .split(" ")
      .map(Number);
    expect({ left, width }).toEqual({ left: 200 - SIDEBAR_WIDTH, width: SIDEBAR_WIDTH });
    expect(height).toBeLessThan(30);
    expect(t.tmux("display-message", "-p", "-t", "=work:", "#{pane_id}")).toBe(pane);
    const tag = t.tmux("show-options", "-pqv", "-t", sidebar, "@teams_sidebar");
    expect(tag).toBe(`${TEAM.rootTag}/${TEAM.team}`);
    expect(await closeSidebarPane(t.server, { ...request, team: "other" })).toBe(false);
    expect(await closeSidebarPane(t.server, request)).toBe(true);
    expect(await closeSidebarPane(t.server, request)).toBe(false);
    expect(t.tmux("display-message", "-p", "-t", pane, "#{window_layout}")).toBe(before);
  });

  test("is refused in words where there is no room", async () => {
    const t = privateTmux();
    const { pane } = t.session("work", { width: 20, height: 10 });
    const before = t.tmux("list-panes", "-a");
    await expect(
      openSidebarPane(t.server, { ...TEAM, neighbour: pane, argv: ["env", "cat"] }),
    ).rejects.toMatchObject({ code: "TMUX_ERROR" });
    await expect(
      openSidebarPane(t.server, { ...TEAM, neighbour: "work", argv: ["env", "cat"] }),
    ).rejects.toMatchObject({ code: "TMUX_ERROR" });
    expect(t.tmux("list-panes", "-a")).toBe(before);
  });
});

describe("A session of the team's own", () => {
  test("has the lead in its first pane, stays with nobody looking, and hands nothing on", async () => {
    const t = privateTmux({ config: "keeps" });
    const request = {
      ...TEAM,
      teamTitle: "Audit #(x)",
      argv: ["/bin/sh", "-c", 'echo "lead: $KEY"; exec cat'],
      env: { KEY: "s3cret" },
    };
    const session = await openTeamSession(t.server, { ...request, size: { width: 120, height: 40 } });
    expect(session.name).toBe("teams-audit");
    expect(session.attach).toEqual(["tmux", ...t.server.socketArgs, "attach-session", "-t", "=teams-audit"]);
    await eventually("the lead", () =>
      t.tmux("capture-pane", "-p", "-t", session.pane).includes("lead: s3cret"),
    );
    expect(t.tmux("show-environment", "-t", "=teams-audit:")).not.toContain("KEY");
    // Its teammates come into the same session.
    const backend = tmuxPaneBackend({ server: t.server, env: t.env });
    for (const kind of ["session", "team-window"] as const) {
      const [place] = placesOf(await backend.spawn([requestFor(t, kind)], { kind }));
      expect(t.tmux("display-message", "-p", "-t", place?.paneId ?? "", "#{session_name}")).toBe(
        "teams-audit",
      );
    }
    expect((await openTeamSession(t.server, request)).name).toBe("teams-audit-2");
  });
});

async function spawnTwo(t: PrivateTmux, placement: Placement) {
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  const [one, two] = placesOf(await backend.spawn([requestFor(t, "one"), requestFor(t, "two")], placement));
  if (one === undefined || two === undefined) throw new Error("no places");
  return [one, two] as const;
}
