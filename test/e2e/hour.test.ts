import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { GIT_IDENTITY, git } from "../support/files/git.ts";
import { TEAMS } from "../support/processes/built-program.ts";
import { createRepository } from "../support/team/landing-team.ts";
import { eventually } from "../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux, type Terminal } from "../support/tmux/private-tmux.ts";

const SIZE = { width: 200, height: 50 };

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
      { on: { contains: "are you there" }, say: "I am, with all that we said." },
    ],
    ben: [{ on: { contains: "begin" }, say: "Ben reads along." }],
  },
};

/** A person at a terminal of their own, attached to a session with a shell in a directory. */
interface Hour extends Terminal {
  sees(text: string | RegExp): Promise<string>;
  /** Types a line and Enter. */
  enter(line: string): void;
}

async function sitDown(t: PrivateTmux, cwd: string): Promise<Hour> {
  const { width, height } = SIZE;
  t.tmux(
    ...["new-session", "-d", "-s", "work", "-n", "mine", "-c", cwd, "-x", `${width}`, "-y", `${height}`],
    ...["--", "env", "PS1=$ ", `PATH=${t.env.PATH}`, "sh"],
  );
  const terminal = await t.attach("=work:", SIZE);
  const sees = async (text: string | RegExp): Promise<string> => {
    const look = (): string | false => {
      const shown = terminal.screen();
      return (typeof text === "string" ? shown.includes(text) : text.test(shown)) && shown;
    };
    return eventually(`${text} on the screen`, look).catch((cause: unknown) => {
      throw new Error(`${text} did not appear. The screen:\n${terminal.screen().trimEnd()}`, { cause });
    });
  };
  await sees(/^\$/m);
  const enter = (line: string): void => {
    terminal.type("-l", line);
    terminal.type("Enter");
  };
  return { ...terminal, sees, enter };
}

/** Puts `teams` on the PATH of the person's shell. */
function installed(): PrivateTmux {
  const t = privateTmux({ env: { ...GIT_IDENTITY, TEAMS_PLAYBOOK_SPEED: "20" } });
  const bin = join(t.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "teams"), `#!/bin/sh\nexec ${process.execPath} ${TEAMS} "$@"\n`);
  chmodSync(join(bin, "teams"), 0o755);
  return { ...t, env: { ...t.env, PATH: `${bin}:${t.env.PATH}` } };
}

it("an hour at a terminal › runs the demo and a team of two, approves, comments, lands, survives kill-server, exits and continues", async () => {
  const t = installed();
  const home = realpathSync(t.home);
  const app = join(home, "app");
  mkdirSync(join(home, "origin"));
  createRepository(join(home, "origin"));
  writeFileSync(join(home, "clock.json"), JSON.stringify(PLAYBOOK));
  let person = await sitDown(t, home);

  // The demo.
  person.enter("git clone --quiet origin app && cd app");
  person.enter("teams run --once");
  await person.sees(/the run is over; the team \S+ was deleted[\s\S]*1 file changed[\s\S]*^\$$/m);
  expect(readFileSync(join(app, "AUDIT.md"), "utf8")).toContain("shared.txt");

  // A team of two, and a request that is answered in its pane.
  person.enter(
    "clear; rm AUDIT.md; teams trust && teams run --team crew --playbook ../clock.json 'build a clock'",
  );
  await person.sees("Both have begun.");
  await person.sees(/ann asks/);
  person.type("C-b", "Right");
  person.type("j");
  person.type("Enter");
  await person.sees(/▲ Allow this write\? clock\.ts[\s\S]*\+.*export const now[\s\S]*y yes/);
  person.type("y");
  await person.sees(/▲ Allow this command\?[\s\S]*Add a clock[\s\S]*y yes/);
  person.type("y");
  await person.sees("The clock is committed.");

  // A comment on a line of the member's diff reaches it, and its answer is approved in the sidebar.
  person.type("C-b", "l");
  await person.sees("d diff");
  person.type("d");
  await person.sees("1 + export const now");
  person.type("j", "c");
  await person.sees("line 1: ▏");
  person.type("-l", "milliseconds would do");
  person.type("Enter");
  await person.sees("✎ milliseconds would do");
  person.type("s");
  await person.sees("sent 1 comment");
  person.type("q");
  await approve(person, "Edit", "a");
  await approve(person, "Bash", "y", "v");
  await person.sees("It counts milliseconds now.");

  // Her commits land on the branch of the checkout.
  person.type("C-b", "Left");
  person.enter("/land ann");
  await person.sees(/ann: landed 2 commits on main/);
  expect(readFileSync(join(app, "clock.ts"), "utf8")).toContain("Date.now()");
  expect(git(app, "log", "--format=%s")).toBe("Count milliseconds\nAdd a clock\nChange shared.txt");

  // The server dies, and the run continues with the whole conversation.
  await t.killServer();
  person = await sitDown(t, app);
  person.enter("teams run --resume --team crew");
  await person.sees(/Ann writes it[\s\S]*It counts milliseconds now\.[\s\S]*ann: restarted/);
  person.type("C-b", "n");
  await person.sees(/The clock is committed\.[\s\S]*It counts milliseconds now\./);
  await person.sees("Ben reads along.");
  person.type("C-b", "l");

  // The end of the run says how to continue.
  person.enter("/exit");
  const ended = /To continue: (teams run --resume --team crew) *$[\s\S]*^\$$/m;
  const { 1: again = "" } = ended.exec(await person.sees(ended)) ?? [];
  person.enter(`clear; ${again}`);
  await person.sees(/ann: restarted[\s\S]*^›/m);
  person.enter("what is left?");
  await person.sees("Only the hands of the clock.");
  person.type("C-b", "n");
  await person.sees("It counts milliseconds now.");
  person.type("C-b", "l");
  person.enter("/exit --delete");
  await person.sees(/the team crew was deleted[\s\S]*^\$$/m);
});

/** Answers the sidebar's request about this tool with a key, after another key that opens the request if it is long. */
async function approve(person: Hour, tool: string, key: string, opens?: string): Promise<void> {
  await person.sees(new RegExp(`│[ ▌]▲ ann asks for permission[^\\n]*\\n[^\\n]*│[ ▌] +${tool}\\(`));
  // A key answers only the request under the cursor.
  if (!person.screen().includes("▌▲ ann asks")) person.type("n");
  await person.sees("▌▲ ann asks");
  if (opens !== undefined) {
    person.type(opens);
    await person.sees("ann · permission");
  }
  // A key that comes with the request is not its answer.
  await eventually("the line for a note", () => {
    if (person.screen().includes("approve ann:")) return true;
    person.type(key);
    return false;
  });
  person.type("C-u", "Enter");
}
