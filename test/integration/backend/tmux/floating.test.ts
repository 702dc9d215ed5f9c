import { beforeEach, expect, test } from "vitest";
import type { Placement } from "../../../../src/backend/backend.ts";
import { layOutTeam } from "../../../../src/backend/tmux/apply-layout.ts";
import { hidePane, showPane } from "../../../../src/backend/tmux/hide-pane.ts";
import { tmuxPaneBackend } from "../../../../src/backend/tmux/tmux-backend.ts";
import type { PlaceRecord } from "../../../../src/schema/status.ts";
import { isAtLeast } from "../../../../src/tmux/version.ts";
import { placesOf, requestFor } from "../../../support/backend/spawn-requests.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

const TEAM = { team: "audit", rootTag: "0123456789ab", teamTitle: "Audit" };

beforeEach(async (context) => {
  const version = await privateTmux().server.version();
  context.skip(!isAtLeast(version, 3, 7), "tmux has floating panes from 3.7 on");
});

test("a user's floating pane in the team window › stays as it is, and the window gets no more panes", async () => {
  const { t, spawn, float } = inside();
  const [a, b] = await spawn("team-window", "a", "b");
  const floating = float(a);
  const panes = (): string[] =>
    t
      .tmux("list-panes", "-t", a.windowId ?? "", "-F", "#{pane_id} #{?pane_floating_flag,floating,tiled}")
      .split("\n")
      .sort();
  const before = panes();
  expect(before).toContain(`${floating} floating`);
  const [c, d] = await spawn("team-window", "c", "d");
  expect([c.windowId === d.windowId, c.windowId === a.windowId]).toEqual([true, false]);
  expect(await layOutTeam(t.server, TEAM, "even-vertical")).toEqual({ shared: 2, apart: 0 });
  expect(panes()).toEqual(before);
  expect(await hidePane(t.server, b, "b")).toBe("moved");
  expect(panes()).toEqual(before.filter((line) => !line.startsWith(`${b.paneId} `)));
  expect(await showPane(t.server, b, TEAM)).toBe("moved");
  expect(t.tmux("display-message", "-p", "-t", b.paneId ?? "", "#{window_id}")).toBe(c.windowId);
});

test("a team window › follows its layout again once the floating pane is closed", async () => {
  const { t, spawn, float } = inside();
  const [a] = await spawn("team-window", "a", "b");
  const floating = float(a);
  await layOutTeam(t.server, TEAM, "even-vertical");
  t.tmux("kill-pane", "-t", floating);
  const widths = (): string => t.tmux("list-panes", "-t", a.windowId ?? "", "-F", "#{pane_width}");
  await eventually("the layout", () => widths() === "200\n200");
});

test("spawn --here › says that the caller's pane floats", async () => {
  const { t, user, backend, float } = inside();
  const floating = float({ paneId: user });
  const [outcome] = await backend.spawn([requestFor(t, "a")], { kind: "here", callerPane: floating });
  expect(outcome).toMatchObject({ ok: true, notHere: "floating" });
});

function inside() {
  const t = privateTmux();
  const { pane: user } = t.session();
  const backend = tmuxPaneBackend({ server: t.server, env: t.env });
  return {
    t,
    user,
    backend,
    /** Opens a floating pane of the user in the window of a pane. */
    float: ({ paneId = "" }: Pick<PlaceRecord, "paneId">) =>
      t.tmux("new-pane", "-d", "-P", "-F", "#{pane_id}", "-t", paneId, "--", "env", "cat"),
    async spawn(kind: Placement["kind"], ...names: string[]) {
      const requests = names.map((name) => requestFor(t, name));
      return placesOf(await backend.spawn(requests, { kind, callerPane: user })) as [
        PlaceRecord,
        PlaceRecord,
        ...PlaceRecord[],
      ];
    },
  };
}
