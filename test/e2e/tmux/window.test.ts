import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { TeamStatus } from "../../../src/operations/status.ts";
import { doneIn, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const SPAWN = ["--model", "scripted:play.json", "--permission-mode", "bypassPermissions"] as const;

it("spawn --window › every command respects the separate window, and resume opens it again", async () => {
  const { t, user, teams, done, windows } = await crew();
  const mine = t.tmux("display-message", "-p", "-t", user, "#{window_layout}");
  await done("spawn", "ada", "--window", ...SPAWN);
  await done("spawn", "bob", ...SPAWN);
  await done("spawn", "cyd", "--window", ...SPAWN);
  expect(windows()).toEqual(["ada@crew: ada", "bob: bob", "cyd@crew: cyd"]);

  expect((await done("hide", "ada", "--json")).json()).toEqual({ agent: "ada", hidden: false, moved: false });
  expect((await done("show", "ada")).out).toBe("ada was spawned in its own window and stays there.\n");
  expect((await done("layout", "main-vertical")).out).toBe("1 window: main-vertical.\n");
  expect((await teams(["attach", "ada"])).out).toContain(`.${paneOf("ada")}`);
  const { members } = (await done("status", "--json")).json<TeamStatus>();
  expect(members.slice(1).map(({ name, paneId, alive }) => [name, paneId, alive])).toEqual(
    ["ada", "bob", "cyd"].map((name) => [name, paneOf(name), true]),
  );

  await done("kill", "bob", "--force");
  expect((await done("layout", "grid")).out).toBe(
    "Each teammate has its own window: there is nothing to arrange.\n",
  );
  await done("spawn", "dot", ...SPAWN);
  for (const name of ["ada", "dot"]) t.tmux("kill-pane", "-t", paneOf(name));
  await eventually("both ends", async () => {
    const after = (await done("status", "--json")).json<TeamStatus>().members;
    return after.filter(({ alive }) => alive === false).length === 2;
  });
  await done("resume");
  expect(windows()).toEqual(["ada@crew: ada", "cyd@crew: cyd", "dot: dot"]);
  expect(t.tmux("display-message", "-p", "-t", user, "#{window_layout}")).toBe(mine);
  await done("kill", "--team", "crew", "--force");
  expect(t.tmux("list-panes", "-a", "-F", "#{pane_id}")).toBe(user);

  function paneOf(name: string): string {
    const panes = t.tmux("list-panes", "-a", "-F", "#{@teams_agent_id} #{pane_id}").split("\n");
    return panes.find((line) => line.startsWith(`${name}@`))?.split(" ")[1] ?? "";
  }
});

it("spawn --window › outside tmux opens a window in the team's session", async () => {
  const { t, teams } = await crew();
  for (const name of ["ada", "bob"]) {
    expect(
      (await teams(["spawn", name, "--window", ...SPAWN], { env: { TMUX: "", TMUX_PANE: "" } })).code,
    ).toBe(0);
  }
  const panes = t
    .tmux("list-panes", "-a", "-F", "#{session_name} #{window_name} #{window_panes}")
    .split("\n");
  expect(panes).toEqual(["teams-crew ada@crew 1", "teams-crew bob@crew 1", "work mine 1"]);
});

it("spawn --window › is rejected together with --here", async () => {
  const { teams } = await crew();
  const refused = await teams(["spawn", "ada", "--window", "--here", ...SPAWN, "--json"]);
  expect(refused.error().code).toBe("INVALID_INPUT");
});

/** Creates a team that a user leads from a pane. */
async function crew() {
  const t = privateTmux();
  const { pane: user } = t.session();
  const teams = teamsIn(t.inside(user), t.home);
  const playbook = { version: 1, agents: { "*": [{ say: "done" }] } };
  writeFileSync(join(t.home, "play.json"), JSON.stringify(playbook));
  const done = doneIn(t.inside(user), t.home);
  await done("create", "crew");
  /** Lists windows with teammates as `<window>: <teammate>`. */
  const windows = () => {
    const lines = t.tmux("list-panes", "-a", "-F", "#{window_name}:#{s/@.*//:@teams_agent_id}").split("\n");
    const agents = new Map<string, string>();
    for (const [window = "", agent = ""] of lines.map((line) => line.split(":"))) {
      if (agent !== "") agents.set(window === "crew" ? agent : window, agent);
    }
    return [...agents].map(([window, agent]) => `${window}: ${agent}`).sort();
  };
  return { t, user, teams, done, windows };
}
