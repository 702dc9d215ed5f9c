import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { GIT_IDENTITY, git } from "../files/git.ts";
import { TEAMS } from "../processes/built-program.ts";
import { createRepository } from "../team/landing-team.ts";
import { eventually } from "../timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../tmux/private-tmux.ts";
import { openTerminal, type Person, pictureSaver, type TerminalSetup } from "./person.ts";

const tool = (name: string, input: object) => ({ name, input });
const commit = (message: string) =>
  tool("Bash", { command: `git add --all . && git commit --quiet --message '${message}'` });
const spawn = (name: string, more: object = {}) =>
  tool("Agent", { name, prompt: `You are ${name}: begin.`, mode: "default", ...more });

const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      {
        on: { contains: "build a clock" },
        say: "# The clock\n\nAnn writes it, and Ben reads along.",
        tools: [
          tool("TaskCreate", { subject: "Build the clock", description: "In src/clock.ts." }),
          spawn("ann", { isolation: "worktree" }),
        ],
      },
      { on: { tool: "Agent" }, tools: [spawn("ben")] },
      { on: { tool: "Agent" }, say: "Both have begun." },
      { on: { contains: "what is left" }, say: "Only the hands of the clock." },
    ],
    ann: [
      {
        on: { contains: "begin" },
        tools: [tool("Write", { file_path: "clock.ts", content: "export const now = () => new Date();\n" })],
      },
      { on: { tool: "Write" }, tools: [commit("Add a clock")] },
      { on: { tool: "Bash" }, say: "The clock is **committed**." },
      {
        on: { contains: "milliseconds would do" },
        tools: [tool("Edit", { file_path: "clock.ts", old_string: "new Date()", new_string: "Date.now()" })],
      },
      { on: { tool: "Edit" }, tools: [commit("Count milliseconds")] },
      { on: { tool: "Bash" }, say: "It counts milliseconds now." },
    ],
    ben: [{ on: { contains: "begin" }, say: "Ben reads along." }],
  },
};

/** The person's tmux.conf: the same shell in each window, and no host name in a picture. */
const CONFIG = `set -g default-shell /bin/sh
set -g default-command 'exec env PS1="$ " sh'
set -g status-right ''
`;

/** The minimum width at which a run opens the sidebar next to the lead. */
const SIDEBAR_FROM = 100;
/** The minimum height at which the sidebar's list shows the change of a request. Below it, a request is opened before it is answered. */
const CHANGE_FROM = 14;
/** The minimum height that shows the whole conversation of a resumed agent. */
const CONVERSATION_FROM = 50;

/** Puts `teams` on the PATH of the person's shell. */
function installed(): PrivateTmux {
  const t = privateTmux({ config: CONFIG, env: { ...GIT_IDENTITY, TEAMS_PLAYBOOK_SPEED: "20" } });
  const bin = join(t.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "teams"), `#!/bin/sh\nexec ${process.execPath} ${TEAMS} "$@"\n`);
  chmodSync(join(bin, "teams"), 0o755);
  return { ...t, env: { ...t.env, PATH: `${bin}:${t.env.PATH}` } };
}

/**
 * Plays the first hour of a new user: the demo, a team of two, requests, a comment on a change, landing, a dead tmux server, the end of
 * the run and its continuation. Types each step, and checks the attached terminal.
 */
export async function spendHour(setup: TerminalSetup): Promise<void> {
  const { width, height } = setup;
  const hasSidebar = width >= SIDEBAR_FROM;
  const isLow = height < CHANGE_FROM;
  /** Texts of a conversation that scroll out of a low screen when it is shown again. */
  const onHighScreens = (text: string): readonly string[] => (height >= CONVERSATION_FROM ? [text] : []);
  const t = installed();
  const home = realpathSync(t.home);
  const app = join(home, "app");
  mkdirSync(join(home, "origin"));
  createRepository(join(home, "origin"));
  writeFileSync(join(home, "clock.json"), JSON.stringify(PLAYBOOK));
  const save = pictureSaver(setup);
  let person = await openTerminal(t, home, setup, save);

  // The demo.
  person.enter("git clone --quiet origin app && cd app");
  person.enter("teams run --once");
  await person.reads("the run is over; the team", "was deleted", "1 file changed", /^\$ *$/);
  expect(readFileSync(join(app, "AUDIT.md"), "utf8")).toContain("shared.txt");
  person.snapshot("demo");

  // A team of two, and a request that is answered in its pane.
  person.enter(
    "clear; rm AUDIT.md; teams trust && teams run --team crew --playbook ../clock.json 'build a clock'",
  );
  await person.reads("Both have begun.");
  await person.reads("ann asks");
  person.snapshot("team");
  if (hasSidebar) person.type("C-b", "Right");
  else await openSidebar(person);
  await person.sees("▲ ann asks for permission");
  person.type("j");
  await person.sees("▌▲ ann asks for permission");
  person.snapshot("sidebar");
  person.type("Enter");
  await allow(person, "write", "▲ Allow this write? clock.ts", "+ export const now");
  await allow(person, "command", "▲ Allow this command?", "Add a clock");
  await person.sees("The clock is committed.");
  person.snapshot("committed");

  // A comment on a line of the member's diff reaches it, and its answer is approved in the sidebar.
  person.type("C-b", "l");
  await person.sees("d diff");
  person.type("d");
  await person.sees("1 + export const now");
  person.snapshot("diff");
  person.type("j", "c");
  await person.sees("line 1: ▏");
  person.snapshot("comment-line");
  person.type("-l", "milliseconds would do");
  person.type("Enter");
  await person.sees("✎ milliseconds would do");
  person.snapshot("comment");
  person.type("s");
  await person.sees("sent 1 comment");
  person.type("q");
  if (isLow) await approve(person, "Edit", "y", "v");
  else await approve(person, "Edit", "a");
  await approve(person, "Bash", "y", "v");

  // Ann's commits land on the branch of the checkout.
  if (hasSidebar) person.type("C-b", "Left");
  else person.type("C-b", "0");
  await person.reads("It counts milliseconds now.");
  person.enter("/land ann");
  await person.sees("ann: landed 2 commits on main");
  person.snapshot("landed");
  expect(readFileSync(join(app, "clock.ts"), "utf8")).toContain("Date.now()");
  expect(git(app, "log", "--format=%s")).toBe("Count milliseconds\nAdd a clock\nChange shared.txt");

  // The server dies, and the run continues with the whole conversation.
  await t.killServer();
  person = await openTerminal(t, app, setup, save);
  person.enter("teams run --resume --team crew");
  // If the lead read that its teammates ended before it ended itself, a low screen shows only that.
  const last = isLow
    ? /(?:It\s+counts\s+milliseconds\s+now\.|(?:ann|ben)\s+ended(?:\s+\(SIGHUP\))?\.)/
    : "It counts milliseconds now.";
  await person.reads(...onHighScreens("Ann writes it"), last, "ann: restarted");
  person.snapshot("resumed");
  await person.goesTo("ann");
  await person.reads(...onHighScreens("The clock is committed."), "It counts milliseconds now.");
  person.snapshot("resumed-ann");
  await person.goesTo("ben");
  await person.reads("Ben reads along.");
  person.type("C-b", "0");

  // The end of the run says how to continue.
  await person.sees(/^›/);
  person.enter("/exit");
  const ended = await person.reads(/To continue: teams run --resume --team crew *$/, /^\$ *$/);
  person.snapshot("ended");
  const { 1: again = "" } = /To continue: (.*\S)/.exec(ended) ?? [];
  person.enter(`clear; ${again}`);
  await person.reads("ann: restarted", /^›/);
  person.enter("what is left?");
  await person.reads("Only the hands of the clock.");
  person.snapshot("continued");
  await person.goesTo("ann");
  await person.reads("It counts milliseconds now.");
  person.type("C-b", "0");
  await person.reads("Only the hands of the clock.");
  person.enter("/exit --delete");
  await person.reads("the team crew was deleted", /^\$ *$/);
  person.snapshot("deleted");
}

/** Opens the sidebar in a separate window, as a person does in a terminal that is too narrow for both. */
async function openSidebar(person: Person): Promise<void> {
  person.type("C-b", "c");
  await person.sees(/^\$$/);
  person.enter("teams sidebar");
}

/** Allows the request in the active pane with a key; a low pane may show the end of the request only after another key. */
async function allow(person: Person, step: string, ...shown: readonly string[]): Promise<void> {
  const screen = await person.sees(...shown, /\by (?:yes|show all of it)/);
  if (screen.includes("show all of it")) {
    person.type("y");
    await person.sees("y yes");
  }
  person.snapshot(step);
  person.type("y");
}

/** Answers the sidebar's request for this tool with a key. @param opens a key that opens a long request first */
async function approve(person: Person, tool: string, key: string, opens?: string): Promise<void> {
  await person.sees(new RegExp(`^[ ▌]▲ ann asks for permission.*\\n[ ▌] +${tool}\\(`));
  // A key answers only the request under the cursor.
  if (!person.screen().includes("▌▲ ann asks")) person.type("n");
  await person.sees("▌▲ ann asks");
  person.snapshot(`${tool}-asked`);
  if (opens !== undefined) {
    person.type(opens);
    await person.sees("ann · permission");
    person.snapshot(`${tool}-whole`);
  }
  // A key that arrives with the request does not answer it; in a low sidebar, it shows the next part of the request.
  await eventually("the input line for a note", () => {
    if (person.screen().includes("approve ann:")) return true;
    person.type(key);
    return false;
  });
  person.snapshot(`${tool}-answer`);
  person.type("C-u", "Enter");
}
