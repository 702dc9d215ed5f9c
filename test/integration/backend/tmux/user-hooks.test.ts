import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { layOutTeam } from "../../../../src/backend/tmux/apply-layout.ts";
import { hidePane, showPane } from "../../../../src/backend/tmux/hide-pane.ts";
import { openSidebarPane } from "../../../../src/backend/tmux/sidebar-pane.ts";
import { closeTeamSession, openTeamSession } from "../../../../src/backend/tmux/team-session.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import { hasEnvEntry, processTable } from "../../../../src/os/process/process-table.ts";
import { INSTANCE_VARIABLE } from "../../../../src/os/process/process-tree.ts";
import type { PlaceRecord } from "../../../../src/schema/status.ts";
import { endAll, placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { impatientServer } from "../../../support/tmux/impatient-server.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

const CONFIGURATIONS = new URL("../../../fixtures/tmux.conf/", import.meta.url);
const TEAM = { team: "audit", rootTag: "0123456789ab", teamTitle: "Audit" };

describe.each(["hooks-fail", "hooks-rename", "hooks-split"])('the user\'s hooks "%s"', (config) => {
  test("do not prevent a team's whole life in one window", async () => {
    const t = privateTmux();
    const { pane: callerPane } = t.session();
    t.tmux("source-file", fileURLToPath(new URL(`${config}.conf`, CONFIGURATIONS)));
    const backend = tmuxPaneBackend({ server: t.server, env: t.env });
    const requests = ["a", "b", "c", "d"].map((name) => requestFor(t, name));
    const outcomes = await backend.spawn(requests, { kind: "team-window", callerPane });
    const places = placesOf(outcomes);
    expect(new Set(places.map(({ windowId }) => windowId)).size).toBe(1);
    const tags = t.tmux("list-panes", "-t", places[0]?.windowId ?? "", "-F", "#{@teams_agent_id}");
    expect(tags.split("\n").filter(Boolean)).toEqual(["a@audit", "b@audit", "c@audit", "d@audit"]);
    const [, b] = places as [PlaceRecord, PlaceRecord];
    expect(await hidePane(t.server, b, "b")).toBe("moved");
    expect(await showPane(t.server, b, TEAM)).toBe("moved");
    expect(await layOutTeam(t.server, TEAM, "even-vertical")).toEqual({ shared: 1, apart: 0 });
    await endAll(backend, outcomes);
    await eventually("the end of all panes", () => ourPanes(t).length === 0);
  });

  test("do not prevent several windows in the team's session", async () => {
    const t = privateTmux({ config });
    const backend = tmuxPaneBackend({ server: t.server, env: t.env, minPane: { width: 150, height: 20 } });
    const requests = ["a", "b", "c", "d", "e"].map((name) => requestFor(t, name));
    const outcomes = await backend.spawn(requests, { kind: "team-window" });
    const places = placesOf(outcomes);
    expect(new Set(places.map(({ session }) => session)).size).toBe(1);
    expect(places.map(({ windowId }) => places.findIndex((place) => place.windowId === windowId))).toEqual([
      0, 0, 2, 2, 4,
    ]);
    const tag = t.tmux("display-message", "-p", "-t", places[0]?.session ?? "", "#{@teams_session}");
    expect(tag).toBe(`${places[0]?.session}/0123456789ab/audit`);
    const environment = t.tmux("show-environment", "-t", places[0]?.session ?? "");
    expect(environment).not.toContain(INSTANCE_VARIABLE);
    await endAll(backend, outcomes);
  });

  test("prevent neither a lead's session nor a sidebar", async () => {
    const t = privateTmux({ config });
    const session = await openTeamSession(t.server, { ...TEAM, argv: ["env", "cat"], env: t.env });
    const format = "#{session_id} #{@teams_session}";
    expect(t.tmux("display-message", "-p", "-t", session.pane, format)).toBe(
      `${session.id} ${session.id}/0123456789ab/audit`,
    );
    const { pane: sidebar } = await openSidebarPane(t.server, {
      ...TEAM,
      neighbour: session.pane,
      argv: ["env", "cat"],
    });
    expect(t.tmux("display-message", "-p", "-t", sidebar, "#{@teams_sidebar}")).toBe("0123456789ab/audit");
    await closeTeamSession(t.server, session);
  });
});

describe("a user's hook that waits", () => {
  test("fails only the teammates without a pane, and the error names it", async () => {
    const t = privateTmux({ config: "hooks-wait" });
    const { pane: callerPane } = t.session();
    const backend = tmuxPaneBackend({
      server: impatientServer(t),
      env: t.env,
      serverAt: () => impatientServer(t),
    });
    const requests = ["a", "b", "c"].map((name) => requestFor(t, name));
    const outcomes = await backend.spawn(requests, { kind: "team-window", callerPane });
    // The window contains the first pane, and the hook waits after the first split.
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true]);
    const [a, failed, c] = outcomes;
    expect(failed).toMatchObject({
      error: { code: "TMUX_ERROR", hint: expect.stringContaining("after-split-window") },
    });
    expect(carriers(requests[1]?.instance ?? "")).toEqual([]);
    const places = placesOf([a, c].filter((outcome) => outcome !== undefined));
    expect(await backend.present(places)).toEqual(new Set(places.map(({ instance }) => instance)));
    // kill-pane ends one pane in each call, then the hook waits.
    await backend.close(places);
    expect(ourPanes(t)).toEqual([]);
  });

  test("is named when a layout fails, and does not fail a finished move", async () => {
    const t = privateTmux({ config: "hooks-wait" });
    const { pane: callerPane } = t.session();
    const backend = tmuxPaneBackend({ server: impatientServer(t), env: t.env });
    const [place] = placesOf(await backend.spawn([requestFor(t, "a")], { kind: "team-window", callerPane }));
    const failure = layOutTeam(impatientServer(t), TEAM, "even-vertical");
    await expect(failure).rejects.toMatchObject({
      hint: expect.stringContaining("after-select-layout"),
    });
    expect(await hidePane(impatientServer(t), place as PlaceRecord, "a")).toBe("moved");
  });
});

function ourPanes(t: PrivateTmux): string[] {
  return t.tmux("list-panes", "-a", "-F", "#{@teams_agent}").split("\n").filter(Boolean);
}

/** Returns the processes that carry the instance of a start. */
function carriers(instance: string): number[] {
  return processTable()
    .map(({ pid }) => pid)
    .filter((pid) => hasEnvEntry(pid, `${INSTANCE_VARIABLE}=${instance}`));
}
