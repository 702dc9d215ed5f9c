import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";
import { userState } from "../../support/tmux/user-state.ts";

const PLAYBOOK = { version: 1, agents: { "*": [{ say: "I heard {{input}}", repeat: true }] } };

it("spawn --here › takes room only from the caller's pane, and restores it exactly after resizes (S4)", async () => {
  const { t, pane, resized, teams } = await threePanes();
  const before = userState(t);
  const size = (id: string) =>
    t.tmux("display-message", "-p", "-t", id, "#{pane_width}x#{pane_height}").split("x");
  const spawn = async (name: string): Promise<string> => {
    const ended = await teams("spawn", name, "--here", "--model", "scripted:play.json", "--json");
    return ended.json<{ paneId: string }>().paneId;
  };
  const ada = await spawn("ada");
  const lead = size(pane);
  expect(lead).toEqual(["49", "49"]);
  const [bob, cyd] = (await Promise.all(["bob", "cyd"].map(spawn))) as [string, string];
  expect(size(pane)).toEqual(lead);
  expect([ada, bob, cyd].map((id) => size(id)[1]).sort()).toEqual(["15", "16", "16"]);
  expect(t.tmux("display-message", "-p", "-t", "=mine:", "#{pane_id}")).toBe(pane);

  // The terminal shrinks far below the room that all panes need, and grows again; then the border between
  // lead and stack moves.
  await resized(40, 12);
  await resized(200, 50);
  t.tmux("resize-pane", "-t", ada, "-x", "30");
  t.tmux("resize-pane", "-t", ada, "-y", "5");

  await teams("kill", "bob", "--force");
  expect(Math.abs(Number(size(ada)[1]) - Number(size(cyd)[1]))).toBeLessThanOrEqual(1);
  await teams("hide", "cyd");
  await teams("shutdown", "ada", "--timeout", "180");
  expect(userState(t).windows?.split("\n")[0]).toBe(before.windows);
  // No pane of the team is left here, so later resizes of the user must remain.
  t.tmux("resize-pane", "-t", pane, "-x", "70");
  const { windows } = userState(t);
  await teams("kill", "crew", "--force");
  await teams("delete", "crew");
  expect(userState(t)).toEqual({ ...before, windows: windows?.split("\n")[0] });
  await leaves(t, nothing(["mine:cat", "mine:cat", "mine:cat"]));
});

it("hide › restores the room exactly when the last pane in the caller's window is hidden", async () => {
  const { t, resized, teams } = await threePanes();
  const before = userState(t);
  await teams("spawn", "ada", "--here", "--model", "scripted:play.json");
  await resized(40, 12);
  await resized(200, 50);
  await teams("hide", "ada");
  expect(userState(t).windows?.split("\n")[0]).toBe(before.windows);
});

it("spawn --here › says where it put the teammate instead, and why", async () => {
  const { t, pane, teams } = await threePanes();
  t.tmux("resize-pane", "-Z", "-t", pane);
  const ada = await teams("spawn", "ada", "--here", "--model", "scripted:play.json");
  expect(ada.out).toContain("Its pane is in the team's own window: a pane of this window is zoomed");
  t.tmux("resize-pane", "-Z", "-t", pane);
  t.tmux("resize-pane", "-t", pane, "-x", "60");
  const bob = await teams("spawn", "bob", "--here", "--model", "scripted:play.json", "--json");
  expect(bob.json()).toMatchObject({ notHere: "no room" });
  const cyd = await teams("spawn", "cyd", "--model", "scripted:play.json", "--json");
  expect(cyd.json()).toMatchObject({ notHere: null });
});

it("sidebar --split › restores its room exactly after resizes", async () => {
  const { t, resized, teams } = await threePanes();
  const before = userState(t);
  await teams("sidebar", "--split");
  expect(userState(t).windows).not.toBe(before.windows);
  await resized(40, 12);
  await resized(200, 50);
  await teams("sidebar", "--split");
  expect(userState(t)).toEqual(before);
});

it("a user's window › is changed only by --here, sidebar --split and the sidebar of run", async () => {
  const { t, pane, teams } = await threePanes();
  // tmux runs the hook for closed windows too, so the hook checks the pane itself.
  const state = "#{window_panes} #{pane_width}x#{pane_height}";
  const isOther = `#{!=:${state},${t.tmux("display-message", "-p", "-t", pane, state)}}`;
  const hook = `if-shell -F -t ${pane} "${isOther}" "set-option -s @touched yes"`;
  t.tmux("set-hook", "-w", "-t", pane, "window-layout-changed", hook);
  const touched = () => t.tmux("show-options", "-sqv", "@touched");
  const model = ["--model", "scripted:play.json"];
  await teams("spawn", "ada", ...model);
  await teams("spawn", "bob", ...model, "--window");
  await teams("spawn", "cyd", ...model, "--session");
  await teams("send", "ada", "hello");
  await teams("hide", "ada");
  await teams("show", "ada");
  await teams("layout", "main-vertical");
  await teams("peek", "ada");
  await teams("status");
  await teams("attach", "ada");
  t.tmux("select-window", "-t", pane);
  await teams("down", "crew", "--timeout", "180");
  await teams("resume", "crew");
  await teams("kill", "crew", "--force", "--purge");
  const runs = {
    version: 1,
    agents: {
      "team-lead": [{ tools: [{ name: "Agent", input: { name: "dan", prompt: "hi" } }] }, { say: "Done." }],
    },
  };
  writeFileSync(join(t.home, "run.json"), JSON.stringify(runs));
  await teams("run", "--playbook", "run.json", "--no-sidebar", "--json");
  expect(touched()).toBe("");

  await teams("create", "crew");
  await teams("sidebar", "--split");
  expect(touched()).toBe("yes");
  await teams("sidebar", "--split");
  t.tmux("set-option", "-s", "-u", "@touched");
  await teams("spawn", "ada", ...model, "--here");
  expect(touched()).toBe("yes");
  await teams("kill", "crew", "--force", "--purge");
  await eventually("the user's panes alone", () => t.tmux("list-panes", "-t", pane).split("\n").length === 3);
});

it("run --here › restores the room of teammates and sidebar", async () => {
  const t = privateTmux();
  const agents = {
    "team-lead": [
      { tools: ["ada", "bob"].map((name) => ({ name: "Agent", input: { name, prompt: "hello" } })) },
      { tools: [{ name: "Bash", input: { command: "until [ -e go ]; do sleep 0.05; done" } }] },
      { say: "All is done." },
    ],
    ada: [{ say: "I am there." }],
    bob: [{ say: "I am there." }],
  };
  writeFileSync(join(t.home, "run.json"), JSON.stringify({ version: 1, agents }));
  const words = [
    "run",
    "--team",
    "crew",
    "--playbook",
    "run.json",
    "--here",
    "--once",
    "--permission-mode",
    "bypassPermissions",
  ];
  const person = personInside(t, words, { size: { width: 200, height: 50 } });
  const spans = () => t.tmux("list-panes", "-t", person.pane, "-F", "#{pane_left} #{pane_width}").split("\n");
  await eventually("lead, stack and sidebar", () => spans().length === 4);
  // The lead, two stacked teammates and the sidebar.
  expect(spans()).toEqual(["0 82", "83 82", "83 82", "166 34"]);
  writeFileSync(join(t.home, "go"), "");
  expect(await person.code()).toBe(0);
  await person.sees("All is done.");
  expect(spans()).toEqual(["0 200"]);
  await leaves(t, nothing(["work:cat"]));
});

/** Attaches to a window of the user with three panes; `teams` runs commands in the first pane. */
async function threePanes() {
  const t = privateTmux();
  const { pane } = t.session("mine");
  const right = t.tmux("split-window", "-d", "-h", "-P", "-F", "#{pane_id}", "-t", pane, "--", "env", "cat");
  t.tmux("split-window", "-d", "-v", "-t", right, "--", "env", "cat");
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const person = await t.attach("=mine:");
  const run = teamsIn(t.inside(pane), t.home);
  const teams = async (...words: string[]) => {
    const ended = await run(words);
    expect([words, ended.code], ended.err).toEqual([words, 0]);
    return ended;
  };
  await teams("create", "crew");
  return {
    t,
    pane,
    teams,
    async resized(width: number, height: number) {
      person.resize({ width, height });
      const seen = () => t.tmux("display-message", "-p", "-t", pane, "#{window_width}");
      await eventually(`${width} columns`, () => seen() === String(width));
    },
  };
}
