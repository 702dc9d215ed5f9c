import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const SPAWN = ["--model", "scripted:play.json", "--permission-mode", "bypassPermissions"] as const;

it("hide, show and attach › move a pane and record that it is hidden", async () => {
  const { tmux, teams, user } = await team("ada", "bob");
  const pane = paneOf(tmux, "ada");
  expect((await teams(["hide", "ada"])).out).toBe("ada is now in its own window.\n");
  expect((await teams(["hide", "ada", "--json"])).json()).toEqual({
    agent: "ada",
    hidden: true,
    moved: false,
  });
  expect(hiddenIn(tmux)).toEqual([pane]);
  expect((await teams(["show", "ada"])).out).toBe("ada is now in the team's window.\n");
  expect(hiddenIn(tmux)).toEqual([]);
  expect((await teams(["hide", "ada"])).code).toBe(0);
  const attach = (await teams(["attach", "ada"])).out;
  expect(attach).toContain(`.${pane}`);
  expect(hiddenIn(tmux)).toEqual([]);
  expect(tmux.tmux("list-panes", "-a", "-F", "#{window_panes} #{pane_id}")).toContain(`2 ${pane}`);
  // A teammate that ended is no longer hidden.
  expect((await teams(["hide", "ada"])).code).toBe(0);
  expect((await teams(["kill", "ada", "--force"])).code).toBe(0);
  expect(hiddenIn(tmux)).toEqual([]);
  expect((await teams(["hide", "ada", "--json"])).error().code).toBe("AGENT_NOT_FOUND");
  expect((await teams(["kill", "--team", "crew", "--force"])).code).toBe(0);
  expect(tmux.tmux("list-panes", "-a", "-F", "#{pane_id}")).toBe(user);
});

it("layout › arranges the team's windows by a layout name", async () => {
  const { tmux, teams } = await team("ada", "bob");
  const layout = () => tmux.tmux("display-message", "-p", "-t", paneOf(tmux, "ada"), "#{window_layout}");
  expect((await teams(["layout", "even-vertical"])).out).toBe("1 window: even-vertical.\n");
  expect(layout()).toMatch(/^\w+,200x\d+,0,0\[/);
  expect((await teams(["layout", "grid", "--json"])).json()).toEqual({
    team: "crew",
    layout: "grid",
    windows: 1,
  });
  expect(layout()).toMatch(/^\w+,200x\d+,0,0\{/);
  const unknown = (await teams(["layout", "main-vertcal", "--json"])).error();
  expect(unknown).toMatchObject({ code: "INVALID_INPUT", hint: expect.stringContaining("main-vertical") });
  expect((await teams(["kill", "--team", "crew", "--force"])).code).toBe(0);
  expect((await teams(["create", "none"])).code).toBe(0);
  for (const name of ["crew", "none"]) {
    const without = await teams(["layout", "grid", "--team", name, "--json"]);
    expect(without.error().code).toBe("RECIPIENT_INACTIVE");
  }
});

it("pane border › shows a crash until the teammate is restarted", async () => {
  const { tmux, teams } = await team("ada");
  const pane = paneOf(tmux, "ada");
  const border = () =>
    tmux.tmux("display-message", "-p", "-t", pane, "#{E:pane-border-format}").replaceAll(/#\[.*?\]/g, "");
  await eventually("the idle border", () => border().trim() === "ada idle");
  const { members } = (await teams(["status", "--json"])).json<{
    members: { name: string; pid: number }[];
  }>();
  signalProcess(members.find(({ name }) => name === "ada")?.pid ?? 0, "SIGSEGV");
  await eventually("the crash", () => border().trim() === "ada crashed");
  const shown = () => tmux.tmux("capture-pane", "-p", "-t", pane);
  await eventually("the key hint", () => shown().includes("r + Enter starts it again"));
  tmux.tmux("send-keys", "-t", pane, "r", "Enter");
  await eventually("the idle border", () => border().trim() === "ada idle");
  expect((await teams(["kill", "--team", "crew", "--force"])).code).toBe(0);
});

it("pane border › does not name the tasks of a crashed teammate, and its pane says that its conversation continues", async () => {
  const { tmux, teams } = await team();
  const start = { name: "TaskUpdate", input: { taskId: "1", owner: "ada", status: "in_progress" } };
  const turns = [{ tools: [start] }, { say: "half", delayMs: 600_000 }];
  writeFileSync(join(tmux.home, "play.json"), JSON.stringify({ version: 1, agents: { "*": turns } }));
  expect((await teams(["task", "add", "Build it"])).code).toBe(0);
  expect((await teams(["spawn", "ada", ...SPAWN, "--prompt", "begin"])).code).toBe(0);
  const pane = paneOf(tmux, "ada");
  const border = () =>
    tmux.tmux("display-message", "-p", "-t", pane, "#{E:pane-border-format}").replaceAll(/#\[.*?\]/g, "");
  await eventually("the task", () => border().trim() === "ada running #1");
  const { members } = (await teams(["status", "--json"])).json<{
    members: { name: string; pid: number }[];
  }>();
  signalProcess(members.find(({ name }) => name === "ada")?.pid ?? 0, "SIGKILL");
  await eventually("the crash", () => border().trim() === "ada crashed");
  const shown = () => tmux.tmux("capture-pane", "-p", "-t", pane);
  await eventually("the key hint", () => shown().includes("r + Enter starts it again"));
  expect(shown()).not.toContain("continues its conversation");
  tmux.tmux("send-keys", "-t", pane, "r", "Enter");
  await eventually("the note", () => shown().includes("continues its conversation"));
  expect((await teams(["kill", "--team", "crew", "--force"])).code).toBe(0);
});

it("hide and show › are refused for a teammate without a pane", async () => {
  const { teams } = await team();
  expect((await teams(["spawn", "dot", ...SPAWN, "--teammate-mode", "process"])).code).toBe(0);
  for (const word of ["hide", "show"]) {
    expect((await teams([word, "dot", "--json"])).error().code).toBe("RECIPIENT_INACTIVE");
  }
  expect((await teams(["kill", "--team", "crew", "--force"])).code).toBe(0);
});

/** Creates a team that a user leads from a pane, with teammates in panes. */
async function team(...names: readonly string[]) {
  const tmux = privateTmux();
  const { pane: user } = tmux.session();
  const teams = teamsIn(tmux.inside(user), tmux.home);
  writeFileSync(
    join(tmux.home, "play.json"),
    JSON.stringify({ version: 1, agents: { "*": [{ say: "done" }] } }),
  );
  expect((await teams(["create", "crew"])).code).toBe(0);
  for (const name of names) expect((await teams(["spawn", name, ...SPAWN])).code).toBe(0);
  return { tmux, teams, user };
}

function paneOf(tmux: PrivateTmux, name: string): string {
  const panes = tmux.tmux("list-panes", "-a", "-F", "#{@teams_agent_id} #{pane_id}").split("\n");
  return panes.find((line) => line.startsWith(`${name}@`))?.split(" ")[1] ?? "";
}

function hiddenIn(tmux: PrivateTmux): unknown {
  return (JSON.parse(readFileSync(tmux.paths("crew").config, "utf8")) as { hiddenPaneIds?: unknown })
    .hiddenPaneIds;
}
