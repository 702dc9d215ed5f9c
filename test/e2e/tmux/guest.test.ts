import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { leaves, leftoversOf, nothing, panesOf } from "../../support/assertions/leftovers.ts";
import { startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { confirmsCtrlC, personInside, personOutside, userAt } from "../../support/tmux/terminal-user.ts";
import { userState } from "../../support/tmux/user-state.ts";

const NAMES = ["ada", "bob", "cyd", "dan", "eve"] as const;

/** A lead that starts five teammates; they say hello and are shut down. */
const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      { tools: NAMES.map((name) => ({ name: "Agent", input: { name, prompt: `hello ${name}` } })) },
      { say: "All are there." },
    ],
    ...Object.fromEntries(NAMES.map((name) => [name, [{ say: "I heard {{input}}" }]])),
  },
};

function playing(t: PrivateTmux, ...more: string[]): string[] {
  writeFileSync(join(t.home, "five.json"), JSON.stringify(PLAYBOOK));
  return ["run", "--team", "crew", "--playbook", "five.json", ...more];
}

describe("a whole run in the user's tmux", () => {
  it.each(["bare", "habits", "keeps", "no-shell"])(
    "leaves the user's tmux unchanged under the configuration “%s”, and leaves nothing (S7, S67)",
    async (config) => {
      const t = privateTmux({ config });
      const { pane } = t.session("mine");
      t.tmux("split-window", "-d", "-h", "-t", pane, "--", "env", "cat");
      t.tmux("split-window", "-d", "-v", "-t", pane, "--", "env", "cat");
      const before = userState(t);
      const teams = teamsIn(t.inside(pane), t.home);
      const ended = await teams(playing(t, "--json", "--verbose"));
      expect(ended.code, ended.err).toBe(0);
      expect(ended.json()).toMatchObject({ outcome: "completed", result: "All are there." });
      for (const name of NAMES) expect(ended.err).toContain(`${name}: shut down`);
      expect(userState(t)).toEqual(before);
      await leaves(t, nothing(["mine:cat", "mine:cat", "mine:cat"]));
    },
  );
});

describe("spawning while the user types", () => {
  it("keeps window, layout and active pane, and every key reaches its pane (S4, S5)", async () => {
    const t = privateTmux();
    const { pane } = t.session("mine");
    t.tmux("split-window", "-d", "-h", "-t", pane, "--", "env", "cat");
    t.tmux("split-window", "-d", "-v", "-t", pane, "--", "env", "cat");
    const terminal = await t.attach("=mine:");
    const layout = () => t.tmux("display-message", "-p", "-t", "=mine:mine", "#{window_layout} #{pane_id}");
    const shown = () => t.tmux("list-clients", "-F", "#{session_name} #{window_name} #{pane_id}");
    const [before, shownBefore] = [layout(), shown()];
    const teams = teamsIn(t.inside(pane), t.home);
    await teams(["create", "crew"]);
    writeFileSync(join(t.home, "five.json"), JSON.stringify(PLAYBOOK));
    const words = ["--model", "scripted:five.json", "--prompt", "hello"];
    const spawning = Promise.all(NAMES.map((name) => teams(["spawn", name, ...words])));
    let over = false;
    void spawning.finally(() => {
      over = true;
    });
    let typed = "";
    while (!over || typed.length < 200) {
      const key = String.fromCharCode(97 + (typed.length % 26));
      terminal.type(key);
      typed += key;
      expect(shown()).toBe(shownBefore);
      // Each key is sent by a forked tmux, so the spawns have time in between.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await spawning).map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    const arrived = () => t.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", pane).replaceAll(/\s/g, "");
    await eventually("the last key", () => arrived().length >= typed.length);
    expect(arrived()).toBe(typed);
    expect(layout()).toBe(before);
    expect((await teams(["kill", "crew", "--force", "--purge"])).code).toBe(0);
    expect(layout()).toBe(before);
    await leaves(t, nothing(["mine:cat", "mine:cat", "mine:cat"]));
  });

  it("opens the panes in the caller's session, even if the user views another one (S6)", async () => {
    const t = privateTmux();
    const { pane } = t.session("a");
    t.session("b");
    await t.attach("=b:");
    const { child, ended } = startTeams(playing(t, "--json", "--rm"), t.inside(pane), t.home);
    const seen = await eventually("the team's window", () => {
      const windows = t.tmux("list-windows", "-a", "-F", "#{session_name} #{window_name}").split("\n");
      return windows.includes("a crew") && windows;
    });
    expect(seen.sort()).toEqual(["a crew", "a mine", "b mine"]);
    expect(t.tmux("list-clients", "-F", "#{session_name} #{window_name}")).toBe("b mine");
    child.kill("SIGTERM");
    expect(await ended).toBe(130);
    await leaves(t, nothing(["a:cat", "b:cat"]));
  });
});

describe("run inside tmux", () => {
  it("leads in the caller's pane with a sidebar, prints the result, and restores the pane's size", async () => {
    const t = privateTmux();
    const person = personInside(t, playing(t, "--once"));
    await person.sees("All are there.");
    expect(await person.code()).toBe(0);
    expect(person.screen()).toContain("I heard hello ada");
    expect(t.tmux("list-panes", "-a", "-F", "#{pane_width}x#{pane_height}")).toBe("160x50");
    await leaves(t, nothing(["work:cat"]));
  });
});

describe("run in a terminal outside tmux", () => {
  it("leads in the first pane of an attached session, and prints the result afterwards", async () => {
    const t = privateTmux();
    const person = personOutside(t, playing(t, "--once"));
    await person.sees("team-lead");
    const lead = await eventually(
      "the session",
      () =>
        t
          .tmux(
            "list-panes",
            "-s",
            "-t",
            "=teams-crew:",
            "-F",
            "#{pane_index} #{pane_current_command} #{window_name}",
          )
          .split("\n")[0],
    );
    expect(lead).toBe("0 node crew");
    expect(t.tmux("list-clients", "-F", "#{session_name}")).toBe("teams-crew");
    expect(await person.code()).toBe(0);
    await person.sees("All are there.");
    await leaves(t, nothing());
  });

  it("shows why the lead's model failed, and reports it again after /exit", async () => {
    const t = privateTmux();
    const broken = {
      version: 1,
      agents: { "team-lead": [{ error: { status: 401, type: "authentication_error" } }] },
    };
    writeFileSync(join(t.home, "broken.json"), JSON.stringify(broken));
    const person = personOutside(t, ["run", "--team", "crew", "--playbook", "broken.json"]);
    await person.sees("authentication_error");
    await person.sees("type a line to try again");
    person.type("/exit", "Enter");
    expect(await person.code()).toBe(1);
    await person.sees("MODEL_ERROR");
    await person.sees("To continue: teams run --resume --team crew");
    expect((await teamsIn(t.env, t.home)(["delete", "crew"])).code).toBe(0);
    await leaves(t, nothing());
  });

  it("leads in the terminal itself if tmux cannot draw on it", async () => {
    const t = privateTmux();
    const person = personOutside(t, playing(t, "--once"), { env: { TERM: "dumb" } });
    expect(await person.code()).toBe(0);
    await person.sees("All are there.");
    await leaves(t, nothing());
  });

  it("reports an unknown terminal, and ends all processes", async () => {
    const t = privateTmux();
    const person = personOutside(t, playing(t), { env: { TERM: "nosuch" } });
    expect(await person.code()).toBe(1);
    await person.sees("TMUX_ERROR");
    await eventually("the end of all processes", () => leftoversOf(t).processes.length === 0);
    // The team is gone already if the lead had not started.
    const isKept = person.screen().includes("To continue: teams run --resume --team crew");
    expect((await teamsIn(t.env, t.home)(["delete", "crew"])).code).toBe(isKept ? 0 : 3);
    await leaves(t, nothing());
  });

  it("continues when the user detaches, and says how to attach again", async () => {
    const t = privateTmux();
    const stays = {
      version: 1,
      agents: { "team-lead": [{ tools: [{ name: "Bash", input: { command: "sleep 600" } }] }] },
    };
    writeFileSync(join(t.home, "stays.json"), JSON.stringify(stays));
    const words = [
      "run",
      "--team",
      "crew",
      "--playbook",
      "stays.json",
      "--rm",
      "--permission-mode",
      "bypassPermissions",
    ];
    const person = personOutside(t, words);
    await person.sees("sleep 600");
    t.tmux("detach-client", "-s", "=teams-crew");
    expect(await person.code()).toBe(0);
    await person.sees("teams attach --team crew");
    expect((await teamsIn(t.env, t.home)(["status", "--json"])).json()).toMatchObject({ leadAlive: true });
    const lead = userAt(
      t,
      t.tmux("list-panes", "-s", "-t", "=teams-crew:", "-F", "#{pane_id}").split("\n")[0] ?? "",
    );
    lead.type("C-c");
    await lead.sees("Ctrl-C once more ends the run");
    await confirmsCtrlC(lead, () => panesOf(t).length === 0 || lead.screen().includes("ending the team"));
    await eventually("the session's end", () => panesOf(t).length === 0);
    await leaves(t, nothing());
  });

  it("--detach › returns at once, and attach shows the lead until it ends", async () => {
    const t = privateTmux();
    mkdirSync(join(t.home, "it's “here”"));
    const teams = teamsIn(t.env, join(t.home, "it's “here”"));
    const go = join(t.home, "go");
    const waits = { name: "Bash", input: { command: `until [ -e '${go}' ]; do sleep 0.1; done` } };
    const agents = { "team-lead": [{ say: "It is at work.", tools: [waits] }, { say: "It is done." }] };
    writeFileSync(join(t.home, "slow.json"), JSON.stringify({ version: 1, agents }));
    const play = ["--playbook", join(t.home, "slow.json"), "--permission-mode", "bypassPermissions"];
    const words = ["run", "--team", "crew", ...play, "--detach", "--json"];
    const started = (await teams(words)).json<{ session: string; attach: string[] }>();
    expect(started).toMatchObject({ team: "crew", session: "teams-crew" });
    expect(started.attach.slice(-2)).toEqual(["-t", expect.stringMatching(/^\$\d+$/)]);
    const person = personOutside(t, ["attach", "--team", "crew"]);
    await person.sees("It is at work.");
    writeFileSync(go, "");
    await eventually("the session's end", () => panesOf(t).length === 0);
    expect(await person.code()).toBe(0);
    await leaves(t, nothing());
  });

  it("--detach › reports why the lead cannot start, and leaves no session", async () => {
    const t = privateTmux();
    const teams = teamsIn(t.env, t.home);
    await teams(["create", "crew"]);
    const config = readFileSync(t.paths("crew").config, "utf8");
    const ended = await teams([...playing(t), "--detach", "--json"]);
    expect([ended.code, ended.error().code]).toEqual([4, "TEAM_EXISTS"]);
    await eventually("the session's end", () => panesOf(t).length === 0);
    expect(readFileSync(t.paths("crew").config, "utf8")).toBe(config);
    expect(leftoversOf(t)).toMatchObject({ processes: [], fifos: [], locks: [] });
  });
});
