import { describe, expect, test } from "vitest";
import type { CallerPosition } from "../../../../src/backend/backend.ts";
import { actualPosition, POSITION_OPTIONS } from "../../../../src/backend/tmux/caller-position.ts";
import { focusPane } from "../../../../src/backend/tmux/focus-pane.ts";
import { openSidebarPane } from "../../../../src/backend/tmux/sidebar-pane.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import { tmuxCaller } from "../../../../src/tmux/caller.ts";
import { listPanes } from "../../../../src/tmux/list-panes.ts";
import { requestFor } from "../../../support/backend/spawn-requests.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

const TEAM = { team: "audit", rootTag: "0123456789ab" };

describe("the pane of $TMUX_PANE", () => {
  test("is a different pane if the server was replaced: it is not split, and its session gets no window", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const position = { callerPane: pane, callerSession: "$0", callerServer: serverPid(t) + 1 };
    const [ada] = await spawnHere(t, position);
    expect(ada).toMatchObject({ ok: true, notHere: "no pane" });
    expect(t.tmux("list-windows", "-a", "-F", "#{session_name} #{window_panes}")).toBe(
      "teams-audit 1\nwork 1",
    );
    const sidebar = { ...TEAM, neighbour: pane, serverPid: serverPid(t) + 1, argv: ["env", "cat"] };
    await expect(openSidebarPane(t.server, sidebar)).rejects.toThrow(`there is no pane ${pane}`);
  });

  test("is not the caller's if the server has inherited it, as in a popup: the caller's session is used", async () => {
    const t = privateTmux({ env: { TMUX_PANE: "%0" } });
    const { pane } = t.session("work");
    t.session("other");
    expect(pane).toBe("%0");
    const position = { callerPane: pane, callerSession: "$1", callerServer: serverPid(t) };
    const [ada] = await spawnHere(t, position);
    expect(ada).toMatchObject({ ok: true, notHere: "no pane" });
    expect(t.tmux("list-windows", "-a", "-F", "#{session_name} #{window_panes}")).toBe(
      "other 1\nother 1\nwork 1",
    );
    const sidebar = { ...TEAM, neighbour: pane, argv: ["env", "cat"] };
    await expect(openSidebarPane(t.server, sidebar)).rejects.toThrow(`there is no pane ${pane}`);
    if (!ada?.ok) throw ada?.error;
    await t.attach("=other");
    const popup = { ...t.inside(pane), TMUX: t.inside(pane).TMUX?.replace(/,0$/, ",1") };
    expect(await focusPane(t.server, ada.place, tmuxCaller(popup))).toEqual({ kind: "switched" });
  });

  test("is the caller's although the server has inherited the same id, if the caller runs in it", async () => {
    const t = privateTmux({ env: { TMUX_PANE: "%0" } });
    const { pane } = t.session();
    const seen = await listPanes(t.server, POSITION_OPTIONS);
    const position = { callerPane: pane, callerServer: seen.serverPid };
    const below = (pid: number) => pid === seen.panes[0]?.pid;
    expect(actualPosition(seen, position, below)).toEqual({ callerPane: pane });
    expect(actualPosition(seen, position, () => false)).toEqual({});
  });
});

function serverPid(t: PrivateTmux): number {
  return Number(t.tmux("display-message", "-p", "#{pid}"));
}

function spawnHere(t: PrivateTmux, position: CallerPosition) {
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  return backend.spawn([requestFor(t, "ada")], { kind: "here", ...position });
}
