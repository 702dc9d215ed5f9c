import { describe, expect, test } from "vitest";
import { layOutTeam } from "../../../../src/backend/tmux/apply-layout.ts";
import { openSidebarPane } from "../../../../src/backend/tmux/sidebar-pane.ts";
import { closeTeamSession, openTeamSession } from "../../../../src/backend/tmux/team-session.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import type { TmuxServer } from "../../../../src/tmux/server.ts";
import { placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

const TEAM = { team: "audit", rootTag: "0123456789ab" };

describe("another tmux server with the same ids takes over between check and act", () => {
  test.each([1, 2])("a spawn creates and tags nothing on it (at batch %i)", async (batch) => {
    const t = privateTmux();
    const { pane } = t.session();
    const spawn = (server: TmuxServer, ...names: string[]) =>
      tmuxPaneBackend({ server, env: t.env }).spawn(
        names.map((name) => requestFor(t, name)),
        { kind: "team-window", callerPane: pane },
      );
    placesOf(await spawn(t.server, "a", "b"));
    const mine = { now: "" };
    const server = disturbed(t.server, batch, async () => {
      mine.now = await replaced(t);
    });
    await expect(spawn(server, "c")).rejects.toMatchObject({ code: "TMUX_ERROR" });
    expect(everything(t)).toBe(mine.now);
  });

  test("a layout and a sidebar are refused", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const backend = tmuxPaneBackend({ server: t.server, env: t.env });
    const requests = ["a", "b", "c"].map((name) => requestFor(t, name));
    placesOf(await backend.spawn(requests, { kind: "team-window", callerPane: pane }));
    const mine = { now: "" };
    const server = disturbed(t.server, 1, async () => {
      mine.now = await replaced(t);
    });
    await expect(layOutTeam(server, TEAM, "even-vertical")).rejects.toMatchObject({ kind: "lost-server" });
    expect(everything(t)).toBe(mine.now);
    const again = disturbed(t.server, 1, async () => {
      mine.now = await replaced(t);
    });
    const sidebar = openSidebarPane(again, { ...TEAM, neighbour: pane, argv: ["env", "cat"] });
    await expect(sidebar).rejects.toMatchObject({ kind: "lost-server" });
    expect(everything(t)).toBe(mine.now);
  });
});

describe("the user creates a session with the team's name between check and act", () => {
  test.each(["a spawn", "a lead"])("%s leaves that session alone", async (who) => {
    const t = privateTmux();
    t.session();
    const mine = { now: "" };
    const server = disturbed(t.server, 1, async () => {
      t.session("teams-audit");
      t.tmux("set-environment", "-t", "=teams-audit:", "KEY", "mine");
      mine.now = everything(t);
    });
    const requests = Array.from({ length: 20 }, (_, i) => requestFor(t, `a${i}`, { env: { KEY: "its" } }));
    if (who === "a spawn") {
      const outcomes = await tmuxPaneBackend({ server, env: t.env }).spawn(requests, { kind: "session" });
      expect(outcomes.filter(({ ok }) => ok)).toEqual([]);
    } else {
      const lead = { ...TEAM, teamTitle: "Audit", argv: ["env", "cat"], env: { KEY: "its" } };
      await expect(openTeamSession(server, lead)).rejects.toMatchObject({ code: "TMUX_ERROR" });
    }
    expect(everything(t)).toBe(mine.now);
    expect(t.tmux("show-environment", "-t", "=teams-audit:", "KEY")).toBe("KEY=mine");
    expect(t.tmux("show-options", "-t", "=teams-audit:")).not.toContain("@teams");
  });
});

test("spawn › opens another window when the last pane of the team's window ends between check and act", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  const spawn = (server: TmuxServer, name: string) =>
    tmuxPaneBackend({ server, env: t.env }).spawn([requestFor(t, name)], {
      kind: "team-window",
      callerPane: pane,
    });
  const [a] = placesOf(await spawn(t.server, "a"));
  const server = disturbed(t.server, 1, async () => {
    t.tmux("kill-pane", "-t", a?.paneId ?? "");
  });
  const [b] = placesOf(await spawn(server, "b"));
  expect(b?.windowId).not.toBe(a?.windowId);
  expect(t.tmux("display-message", "-p", "-t", b?.paneId ?? "", "#{window_name}")).toBe("Audit");
});

test("closeTeamSession › closes only the session that was opened: no other of its name, none on another server", async () => {
  const t = privateTmux();
  t.session();
  const lead = { ...TEAM, teamTitle: "Audit", argv: ["env", "cat"], env: {} };
  const session = await openTeamSession(t.server, lead);
  t.tmux("rename-session", "-t", session.id, "renamed");
  t.session("teams-audit");
  await closeTeamSession(t.server, session);
  const names = () => t.tmux("list-sessions", "-F", "#{session_name}").split("\n");
  expect(names()).toEqual(["teams-audit", "work"]);
  await closeTeamSession(t.server, session);
  await t.killServer();
  await closeTeamSession(t.server, session);
  for (const name of ["one", "two", "three"]) t.session(name);
  await closeTeamSession(t.server, session);
  expect(names()).toEqual(["one", "three", "two"]);
});

/** Returns a server that runs `act` before its n-th batch. */
function disturbed(server: TmuxServer, n: number, act: () => Promise<void>): TmuxServer {
  let batches = 0;
  return {
    ...server,
    async batch(lines, options) {
      batches += 1;
      if (batches === n) await act();
      return server.batch(lines, options);
    },
  };
}

/**
 * Kills the server and starts the user's new one: a window with as many panes as the team had, split by hand.
 */
async function replaced(t: PrivateTmux): Promise<string> {
  await t.killServer();
  const { pane } = t.session();
  t.tmux("new-window", "-d", "-t", "=work:", "-n", "other", "env", "cat");
  for (const side of ["-h", "-v"])
    t.tmux("split-window", "-d", side, "-l", "20%", "-t", "=work:other", "env", "cat");
  t.tmux("split-window", "-d", "-h", "-l", "30%", "-t", pane, "env", "cat");
  return everything(t);
}

/** Returns everything a user can see on the server, and every tag on it. */
function everything(t: PrivateTmux): string {
  const marks = "#{@teams_agent}#{@teams_window}#{@teams_sidebar}";
  const panes = `#{session_name} #{window_id} #{window_name} #{window_layout} #{pane_id} #{pane_title} ${marks}`;
  return t.tmux("list-panes", "-a", "-F", panes);
}
