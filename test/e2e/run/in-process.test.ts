import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTeam } from "../../../src/team/config/config.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { leaves, markedProcesses, nothing } from "../../support/assertions/leftovers.ts";
import { startTeams, TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { confirmsCtrlC, type Person, personInside, userAt } from "../../support/tmux/terminal-user.ts";

const spawn = (name: string): object => ({ name: "Agent", input: { name, prompt: `begin, ${name}` } });
const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      { tools: [{ name: "TaskCreate", input: { subject: "look at the parser", description: "d" } }] },
      { tools: [spawn("ann")] },
      { tools: [spawn("bob")] },
      { say: "They are there.", repeat: true },
    ],
    ann: [{ say: "I am ann." }, { on: { contains: "lexer" }, say: "The lexer it is." }],
    bob: [{ tools: [{ name: "Bash", input: { command: "touch working; sleep 300" } }] }],
  },
};

function words(t: PrivateTmux, playbook: object = PLAYBOOK): readonly string[] {
  writeFileSync(join(t.home, "play.json"), JSON.stringify(playbook));
  const mode = [
    "--teammate-mode",
    "in-process",
    "--permission-mode",
    "bypassPermissions",
    "--no-sidebar",
    "--rm",
  ];
  return ["run", "--team", "crew", "--playbook", "play.json", ...mode];
}

const atWork = (t: PrivateTmux) => eventually("the long command", () => existsSync(join(t.home, "working")));
/** The visible rows of the terminal, without its history. */
const shown = (t: PrivateTmux, { pane }: Person): string => t.tmux("capture-pane", "-p", "-t", pane);
const shows = (t: PrivateTmux, person: Person, text: string | RegExp) =>
  eventually(`${text} in:\n${shown(t, person)}`, () => shown(t, person).match(text));

describe("a lead with in-process teammates", () => {
  it("shows, messages and interrupts them by keys, and restores its terminal", async () => {
    const t = privateTmux();
    const person = personInside(t, words(t));
    await atWork(t);
    await person.sees("Shift+Down shows them");
    await person.sees("They are there.");
    // An attach from another terminal shows the lead's pane.
    const teams = teamsIn(t.env, t.home);
    const { command } = (await teams(["attach", "ann", "--json"])).json<{ command: string[] }>();
    expect(command.at(-1)).toBe(`$0:@0.${person.pane}`);
    person.type("S-Down");
    await shows(t, person, /teammates of crew.*\n\n› ○ ann +idle\n {2}● bob +Bash\(touch working/);
    await shows(t, person, "I am ann.");
    person.type("Enter");
    await shows(t, person, /^○ ann +idle +Esc back/);
    person.type("and the lexer?", "Enter");
    await shows(t, person, "The lexer it is.");
    // Commands are not sent to the agent.
    person.type("/nonsense", "Enter");
    await shows(t, person, "there is no /nonsense, and nothing was sent");
    person.type("/tasks", "Enter");
    await shows(t, person, /#1 .*look at the parser/);
    person.type("S-Down");
    await shows(t, person, /^● bob +Bash\(touch working.*Esc interrupts/);
    person.type("Escape");
    await shows(t, person, /interrupted\n[\s\S]*\n›/);
    await shows(t, person, /^○ bob +idle +Esc back/);
    person.type("C-t");
    await shows(t, person, /tasks of crew · 0 of 1 done.*\n\n○ +#1 look at the parser/);
    person.type("Escape");
    await shows(t, person, /^○ bob +idle +Esc back/);
    person.type("Escape");
    await shows(t, person, "They are there.");
    // All agents are idle, but the run waits: the user who interrupted an agent may type again.
    await person.endsRun();
    expect(await person.code()).toBe(130);
    expect(person.screen()).not.toContain("tasks of crew");
    const terminal = t.tmux(
      "display-message",
      "-p",
      "-t",
      person.pane,
      "#{pane_tty} #{alternate_on} #{wrap_flag}",
    );
    const [tty = "", alternate, wrap] = terminal.split(" ");
    expect([alternate, wrap]).toEqual(["0", "1"]);
    expect(execFileSync("stty", ["-F", tty, "-a"], { encoding: "utf8" })).toMatch(/(?<!-)icanon/);
    await leaves(t, nothing(["work:cat"]));
  });

  it("restores its terminal on Ctrl-Z in a teammate's view, and returns on fg", async () => {
    const t = privateTmux();
    const shell = ["env", "PS1=ready> ", "ENV=", "/bin/sh", "-i"];
    const pane = t.tmux(
      ...["new-session", "-d", "-s", "work", "-c", t.home, "-x", "120", "-y", "40", "-P", "-F", "#{pane_id}"],
      ...["--", ...shell, ";", "set-option", "-t", "=work:", "destroy-unattached", "off"],
    );
    const type = (...keys: string[]): void => void t.tmux("send-keys", "-t", pane, ...keys);
    const sees = (text: string | RegExp) =>
      eventually(`${text} in the terminal`, () => t.tmux("capture-pane", "-p", "-t", pane).match(text));
    await sees("ready>");
    type([process.execPath, TEAMS, ...words(t)].join(" "), "Enter");
    await atWork(t);
    type("S-Down", "Enter");
    await sees(/^○ ann +idle/);
    type("half a line", "C-z");
    await sees(/ready> *\n*$/);
    expect(t.tmux("display-message", "-p", "-t", pane, "#{alternate_on} #{wrap_flag}")).toBe("0 1");
    type("stty -a | grep -o '.icanon'", "Enter");
    await sees(/^ icanon/m);
    // Pasted text for the shell carries no bracketed-paste markers.
    t.tmux("set-buffer", "pasted");
    t.tmux("paste-buffer", "-p", "-t", pane);
    await sees(/ready> pasted\n*$/);
    type("C-u", "fg", "Enter");
    type("S-Down", "Enter");
    await sees(/^○ ann +idle/);
    await sees(/^› half a line$/m);
    type("S-Down");
    await sees(/^● bob +Bash/);
    type("Escape");
    await sees(/^○ bob +idle/);
    type("C-c");
    await sees("Ctrl-C once more");
    await confirmsCtrlC(userAt(t, pane), () => /ending the team/.test(userAt(t, pane).screen()));
    await sees(/ready> *\n*$/);
    type("exit", "Enter");
    await leaves(t, nothing());
  });

  it("keeps the lead's unfinished line: the first Ctrl-C discards it, and two more end the run", async () => {
    const t = privateTmux();
    const person = personInside(t, words(t));
    await atWork(t);
    await person.sees("They are there.");
    person.type("-l", "for later");
    await shows(t, person, "› for later");
    person.type("S-Down");
    await shows(t, person, "teammates of crew");
    person.type("Enter");
    await shows(t, person, /^○ ann +idle/);
    person.type("C-c");
    await shows(t, person, "› for later");
    person.type("C-c");
    await eventually("the empty line", () => !shown(t, person).includes("for later"));
    expect(person.screen()).not.toContain("Ctrl-C once more");
    await person.endsRun();
    expect(await person.code()).toBe(130);
  });

  it("returns on Esc from a teammate that only waits for an answer", async () => {
    const t = privateTmux();
    const ask = { name: "AskUserQuestion", input: { question: "Which one?" } };
    const agents = { ...PLAYBOOK.agents, ann: [{ tools: [ask] }] };
    const person = personInside(t, words(t, { ...PLAYBOOK, agents }));
    await atWork(t);
    await person.sees("They are there.");
    person.type("S-Down", "Enter");
    await shows(t, person, /^▲ ann +waiting for an answer/);
    await shows(t, person, /Which one\?/);
    person.type("Escape");
    await shows(t, person, "They are there.");
    await person.endsRun();
    await person.code();
  });

  it("answers a teammate's request in its view with one key, but not with the first letter of a sentence", async () => {
    const t = privateTmux();
    const asks = (name: string) => ({ tools: [{ name: "Bash", input: { command: `touch ${name}` } }] });
    const agents = { ...PLAYBOOK.agents, ann: [asks("made"), { say: "It is made." }] };
    const ordinary = words(t, { ...PLAYBOOK, agents }).map((word) =>
      word === "bypassPermissions" ? "default" : word,
    );
    const person = personInside(t, ordinary);
    await person.sees("They are there.");
    person.type("S-Down", "Enter");
    await shows(t, person, /▲ Allow this command\? touch made[\s\S]*y yes · n no · a always.* · e explain/);
    expect(shown(t, person)).not.toContain("teams approve");
    person.type("e");
    await shows(t, person, "The agent asks for Bash.");
    person.type("-l", "yes");
    await shows(t, person, "› yes");
    person.type("C-c");
    await shows(t, person, /^› *$/m);
    expect(existsSync(join(t.home, "made"))).toBe(false);
    person.type("/mo");
    await shows(t, person, /› \/mode +show the permission mode/);
    person.type("Enter");
    await shows(t, person, "permission mode: default");
    person.type("y");
    await shows(t, person, "It is made.");
    await person.endsRun();
    await person.code();
  });

  it("keeps running with the same keys on Ctrl-Z without a shell", async () => {
    const t = privateTmux();
    const person = personInside(t, words(t));
    await atWork(t);
    person.type("S-Down", "Enter");
    await shows(t, person, /^○ ann +idle/);
    person.type("C-z");
    await shows(t, person, "They are there.");
    const tty = t.tmux("display-message", "-p", "-t", person.pane, "#{pane_tty}");
    await eventually("raw mode", () =>
      execFileSync("stty", ["-F", tty, "-a"], { encoding: "utf8" }).includes("-icanon"),
    );
    person.type("S-Down");
    await shows(t, person, "teammates of crew");
    person.type("Enter");
    await shows(t, person, /^○ ann +idle/);
    person.type("and the lexer?", "Enter");
    await shows(t, person, "The lexer it is.");
    await person.endsRun();
    expect(await person.code()).toBe(130);
    await leaves(t, nothing(["work:cat"]));
  });

  it("restores its terminal when it is ended in a teammate's view", async () => {
    const t = privateTmux();
    const person = personInside(t, words(t));
    await atWork(t);
    person.type("S-Down");
    await shows(t, person, "teammates of crew");
    await person.endsRun();
    await person.sees("ending the team");
    expect(await person.code()).toBe(130);
    expect(t.tmux("display-message", "-p", "-t", person.pane, "#{alternate_on} #{wrap_flag}")).toBe("0 1");
    await leaves(t, nothing(["work:cat"]));
  });

  it.each([
    ["is killed", "SIGKILL", "crashed"],
    ["loses its terminal", "SIGHUP", "exited"],
  ] as const)(
    "ends its teammates when it %s; resume restarts them in panes (S43)",
    async (_, signal, state) => {
      const t = privateTmux();
      const { child, ended } = startTeams(words(t), t.env, t.home);
      await atWork(t);
      const teams = teamsIn(t.env, t.home);
      const ref = teamRef({ root: t.root, runtime: "" }, "crew");
      await eventually("ann to be idle", () => isAtRest(ref, "ann"));
      const before = await teams(["status", "--json"]);
      expect(before.json()).toMatchObject({
        leadAlive: true,
        members: [
          {},
          { name: "ann", backend: "in-process", alive: true, pid: child.pid },
          { name: "bob", alive: true },
        ],
      });
      // Other programs recognise a member without a pane by this pane id, which is written once it has started.
      await eventually("the pane ids of both members", () =>
        readTeam(ref)
          .members.slice(1)
          .every(({ tmuxPaneId }) => tmuxPaneId === "in-process"),
      );
      child.kill(signal);
      await ended;
      expect((await teams(["status", "--json"])).json()).toMatchObject({
        leadAlive: false,
        members: [{}, { name: "ann", alive: false }, { name: "bob", alive: false, state }],
      });
      const sleeps = markedProcesses(t).filter(({ name }) => name.startsWith("sleep"));
      // Resume ends the commands that a killed lead could not end.
      if (signal === "SIGHUP") expect(sleeps).toEqual([]);
      const resumed = await teams(["resume", "--json"]);
      expect(resumed.json()).toMatchObject({
        members: [
          { name: "ann", outcome: "restarted", backend: "tmux", conversation: expect.any(String) },
          { name: "bob", outcome: "restarted" },
        ],
      });
      expect((await teams(["kill", "crew", "--force", "--purge"])).code).toBe(0);
      await eventually("the end of all processes", () =>
        markedProcesses(t).every(({ name }) => /^tmux|^cat/.test(name)),
      );
    },
  );

  it("is the default without tmux, and leaves nothing", async () => {
    const t = privateTmux();
    const playbook = { ...PLAYBOOK, agents: { ...PLAYBOOK.agents, bob: [{ say: "I am bob." }] } };
    const bare = join(t.home, "bin");
    execFileSync("sh", [
      "-c",
      `mkdir ${bare}; for one in node sh ps git mkfifo; do ln -s "$(command -v $one)" ${bare}/; done`,
    ]);
    const list = words(t, playbook).filter((word) => word !== "--teammate-mode" && word !== "in-process");
    const { code, json } = await teamsIn({ ...t.env, PATH: bare }, t.home)([...list, "--json"]);
    expect([code, json()]).toMatchObject([0, { outcome: "completed", result: "They are there." }]);
    await leaves(t, nothing());
  });
});
