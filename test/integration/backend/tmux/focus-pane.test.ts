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
import { tmuxCaller } from "../../../../src/tmux/caller.ts";
import { placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

const TEAM = { team: "audit", rootTag: "0123456789ab" };

describe("focusPane", () => {
  test("switches only the caller's client to the pane's session, window and pane", async () => {
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

  test("keeps the pane's own zoom, and a client's session if it has the pane's window", async () => {
    const t = privateTmux();
    const caller = t.session("work");
    const [one, two] = await spawnTwo(t, { kind: "session" });
    // The team window is linked into the user's session, so it is shown there.
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

  test.each(["-t", "-g"])(
    "links the window into a session that would end (set %s destroy-unattached on)",
    async (scope) => {
      const t = privateTmux();
      const caller = t.session("work");
      await t.attach("=work");
      t.tmux("set-option", "-u", "-t", "=work:", "destroy-unattached");
      t.tmux("set-option", ...(scope === "-g" ? ["-g"] : ["-t", "=work:"]), "destroy-unattached", "on");
      const [, two] = await spawnTwo(t, { kind: "session" });
      const viewer = tmuxCaller(t.inside(caller.pane));
      const shown = () => t.tmux("list-clients", "-F", "#{session_name} #{window_id} #{pane_id}");
      for (let times = 0; times < 2; times += 1) {
        expect(await focusPane(t.server, two, viewer)).toEqual({ kind: "switched" });
        expect(shown()).toBe(`work ${two.windowId} ${two.paneId}`);
      }
      expect(t.tmux("list-sessions", "-F", "#{session_name}")).toBe("teams-audit\nwork");
      expect(t.tmux("list-windows", "-t", "=work:").split("\n")).toHaveLength(2);
      // Another client keeps the session alive.
      t.tmux("last-window", "-t", "=work:");
      t.tmux("unlink-window", "-t", `=work:${two.windowId}`);
      await t.attach("=work");
      expect(await focusPane(t.server, two, viewer)).toEqual({ kind: "switched" });
      expect(shown().split("\n").sort()[0]).toBe(`teams-audit ${two.windowId} ${two.paneId}`);
    },
  );

  test("switches the client of a popup, which has no pane, by its session", async () => {
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

  test("does not switch a client for a caller of another server with the same pane id (S39)", async () => {
    const [t, other] = [privateTmux(), privateTmux()];
    const { pane } = t.session("work");
    const outside = other.session("elsewhere");
    expect(outside.pane).toBe(pane);
    await t.attach("=work");
    const [one] = await spawnTwo(t, { kind: "team-window", callerPane: pane });
    const outcome = await focusPane(t.server, one, tmuxCaller(other.inside(outside.pane)));
    const argv = ["env", "-u", "TMUX", "tmux", ...t.server.socketArgs, "attach-session"];
    expect(outcome).toEqual({
      kind: "command",
      why: "elsewhere",
      argv: [...argv, "-t", `${one.session}:${one.windowId}.${one.paneId}`],
    });
    expect(t.tmux("list-clients", "-F", "#{pane_id}")).toBe(pane);
    // The command works: a tmux inside a pane of the other server.
    if (outcome.kind !== "command") throw new Error("no command");
    const words = [...outcome.argv.slice(0, 3), `TMUX_TMPDIR=${t.env.TMUX_TMPDIR}`, ...outcome.argv.slice(3)];
    other.tmux("new-window", "-d", "-t", "=elsewhere:", "-e", "TERM=screen", "--", ...words);
    await eventually("the client", () =>
      t.tmux("list-clients", "-F", "#{pane_id}").includes(one.paneId ?? "?"),
    );
  });

  test("returns the exact command when no client of the caller can be switched", async () => {
    const t = privateTmux();
    const { pane } = t.session("work");
    const [one, two] = await spawnTwo(t, { kind: "team-window", callerPane: pane });
    for (const caller of [undefined, pane, "%999"]) {
      const viewer = caller === undefined ? undefined : tmuxCaller({ ...t.inside(pane), TMUX_PANE: caller });
      const outcome = await focusPane(t.server, two, viewer);
      expect(outcome).toEqual({
        kind: "command",
        why: caller === undefined ? "outside" : "unseen",
        argv: [
          "tmux",
          ...t.server.socketArgs,
          "attach-session",
          "-t",
          `${two.session}:${two.windowId}.${two.paneId}`,
        ],
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

  test("reports a pane that is gone or belongs to another process", async () => {
    const t = privateTmux();
    const { pane } = t.session("work");
    const [one] = await spawnTwo(t, { kind: "team-window", callerPane: pane });
    expect(await focusPane(t.server, { ...one, paneId: pane })).toEqual({ kind: "gone" });
    await t.killServer();
    expect(await focusPane(t.server, one)).toEqual({ kind: "gone" });
  });
});

describe("sidebar pane", () => {
  test("opens at the caller's right without the focus, and returns its space on close", async () => {
    const t = privateTmux();
    const { pane } = t.session("work");
    t.tmux("split-window", "-d", "-v", "-t", pane, "env", "cat");
    const before = t.tmux("display-message", "-p", "-t", pane, "#{window_layout}");
    const request = { ...TEAM, neighbour: pane, argv: ["env", "cat"], env: { SIDE: "bar" } };
    const { pane: sidebar } = await openSidebarPane(t.server, request);
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

  test("is refused with TMUX_ERROR when there is no room", async () => {
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

describe("session of a team's lead", () => {
  test("has the lead in its first pane, works detached, and leaks no environment", async () => {
    const t = privateTmux({ config: "keeps" });
    const request = {
      ...TEAM,
      teamTitle: "Audit #(x)",
      argv: ["/bin/sh", "-c", 'echo "lead: $KEY"; exec cat'],
      env: { KEY: "s3cret" },
    };
    const session = await openTeamSession(t.server, { ...request, size: { width: 120, height: 40 } });
    expect(session.name).toBe("teams-audit");
    expect(session.attach).toEqual(["tmux", ...t.server.socketArgs, "attach-session", "-t", session.id]);
    await eventually("the lead", () =>
      t.tmux("capture-pane", "-p", "-t", session.pane).includes("lead: s3cret"),
    );
    expect(t.tmux("show-environment", "-t", "=teams-audit:")).not.toContain("KEY");
    // Its teammates join the same session.
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
