import { expect, test } from "vitest";
import { MIN_PANE } from "../../../../src/backend/tmux/grid.ts";
import { TAG } from "../../../../src/backend/tmux/pane-tags.ts";
import { planPanes } from "../../../../src/backend/tmux/plan-panes.ts";
import { paneId, sessionId, windowId } from "../../../../src/tmux/ids.ts";
import type { PaneList, TmuxPane } from "../../../../src/tmux/list-panes.ts";
import { parseVersion } from "../../../../src/tmux/version.ts";

const TEAM = { team: "audit", rootTag: "root" } as Parameters<typeof planPanes>[1];

function pane(number: number, window: number, more: Partial<TmuxPane> = {}): TmuxPane {
  const [id, ofWindow, session] = [paneId(`%${number}`), windowId(`@${window}`), sessionId("$0")];
  if (id === undefined || ofWindow === undefined || session === undefined) throw new Error("not an id");
  const size = { left: 0, top: 0, width: 200, height: 50, windowWidth: 200, windowHeight: 50 };
  const state = { pid: 1, dead: false, floating: false, options: {}, sessionName: "work" };
  return { id, window: ofWindow, session, ...size, ...state, ...more };
}

const seen = (...panes: TmuxPane[]): PaneList => ({
  running: true,
  serverPid: 1,
  version: parseVersion("3.7c"),
  panes,
});
const IN_TEAM_WINDOW = { options: { [TAG.window]: "@1/root/audit" } };

test("planPanes › uses the team's window, unless it has a floating pane", () => {
  const kinds = (...panes: TmuxPane[]) =>
    planPanes(seen(pane(0, 0), ...panes), TEAM, 1, { kind: "team-window", callerPane: "%0" }).hosts.map(
      ({ host }) => host.kind,
    );
  expect(kinds(pane(1, 1, IN_TEAM_WINDOW))).toEqual(["window"]);
  const floating = pane(2, 1, { ...IN_TEAM_WINDOW, floating: true });
  expect(kinds(pane(1, 1, IN_TEAM_WINDOW), floating)).toEqual(["new-window"]);
});

test("planPanes › does not open a pane next to a floating caller", () => {
  const plan = (floating: boolean) =>
    planPanes(seen(pane(0, 0, { floating })), TEAM, 1, { kind: "here", callerPane: "%0" });
  expect(plan(false).stack).toMatchObject({ caller: "%0" });
  expect(plan(true)).toMatchObject({ stack: undefined, notHere: "floating" });
});

test("planPanes › stacks as many panes next to the caller as fit at the minimum height, including existing panes", () => {
  const inStack = { options: { [TAG.agent]: "one", [TAG.team]: "audit", [TAG.root]: "root" } };
  const stacked = (height: number, ...panes: TmuxPane[]) => {
    const plan = planPanes(seen(pane(0, 0, { height }), ...panes), TEAM, 9, {
      kind: "here",
      callerPane: "%0",
    });
    return plan.stack?.count;
  };
  const lines = (...panes: TmuxPane[]) =>
    planPanes(seen(pane(0, 0), ...panes), TEAM, 1, { kind: "here", callerPane: "%0" }).stack?.lines;
  expect(lines()).toBe(50);
  expect(lines(pane(1, 0, { ...inStack, height: 20 }), pane(2, 0, { ...inStack, height: 29 }))).toBe(49);
  const { height: minimum } = MIN_PANE;
  // Each pane but the last has a border below it.
  expect(stacked(2 * minimum + 1)).toBe(2);
  expect(stacked(3 * minimum + 1)).toBe(2);
  expect(stacked(3 * minimum + 2)).toBe(3);
  expect(stacked(3 * minimum + 2, pane(1, 0, inStack))).toBe(2);
  expect(stacked(2 * minimum, pane(1, 0, inStack))).toBeUndefined();
});
