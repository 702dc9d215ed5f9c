import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { GIT_IDENTITY, git } from "../../support/files/git.ts";
import { doneIn } from "../../support/processes/built-program.ts";
import { createRepository } from "../../support/team/landing-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { type PaneUser, personInside, userAt } from "../../support/tmux/terminal-user.ts";

const bash = (command: string, more: object = {}) => ({ name: "Bash", input: { command, ...more } });
const PLAYBOOK = {
  version: 1,
  agents: {
    dev: [
      {
        on: { contains: "begin" },
        say: "# The work\n\nI write and commit it.",
        tools: [
          { name: "Write", input: { file_path: "made.txt", content: "one\ntwo\n" } },
          bash("git add made.txt && git commit -qm made"),
          bash("echo the-server-runs; sleep 300", { run_in_background: true }),
        ],
        usage: { input: 1200, output: 300 },
      },
      { say: "It is committed." },
      { on: { contains: "again" }, say: "And once more." },
    ],
  },
};

/** Starts a teammate in a worktree, waits for the end of its first turn, and returns the user at its pane. */
async function teammate() {
  const t = privateTmux({ env: GIT_IDENTITY });
  const repository = createRepository(realpathSync(t.home));
  writeFileSync(join(repository, "play.json"), JSON.stringify(PLAYBOOK));
  const { pane } = t.session();
  const done = doneIn(t.inside(pane), repository);
  await done("create", "crew");
  const model = ["--model", `scripted:${join(repository, "play.json")}`];
  const mode = ["--permission-mode", "bypassPermissions"];
  await done("spawn", "dev", "--worktree", ...model, ...mode, "--prompt", "begin");
  const ref = teamRef(teamsHome(t.env), "crew");
  const user = (): PaneUser => userAt(t, readStatus(ref, "dev")?.paneId ?? "");
  await user().sees("It is committed.");
  await user().sees("○ idle");
  return { t, ref, repository, done, user };
}

it("a teammate's pane › runs each command that is not about its conversation, for its own agent", async () => {
  const { t, repository, done, user } = await teammate();
  const dev = user();
  const run = async (command: string, answer: string | RegExp): Promise<string> => {
    dev.type(command, "Enter");
    return dev.sees(answer);
  };
  const listed = await run("/bg", /dev +(bash-\w+) +running/);
  const [, id = ""] = /dev +(bash-\w+) +running/.exec(listed) ?? [];
  await run(`/bg ${id}`, /^the-server-runs$/m);
  await run(`/bg ${id} end`, `${id} of dev has ended.`);
  await dev.sees("ended in the background");
  await run("/cost", /this agent: 1\.5k tokens, 300 of them output\nthe team: {3}1\.5k tokens/);

  const file = join(t.home, "conversation.txt");
  await run(`/export ${file}`, `the conversation was written to ${file}`);
  expect(readFileSync(file, "utf8")).toMatch(
    /The work[\s\S]*● Bash\(git add made\.txt[\s\S]*It is committed\./,
  );
  await run(`/export ${file}`, "conversation.txt already exists; nothing was written.");

  await run("/diff --stat", /A made\.txt +2 \+\+/);
  await run("/diff", /^2 \+ two$/m);
  await run("/land", /dev: landed 1 commit on main \(\w+\), and updated the files of/);
  expect(existsSync(join(repository, "made.txt"))).toBe(true);
  expect(git(repository, "log", "--format=%s", "-1")).toContain("made");
  await run("/land", "dev: nothing to land; main has all its commits.");

  await run("/help", /^\/exit +ask this agent to shut down/m);
  await run("/mode", "permission mode: bypassPermissions");
  await run("/mode plan", "dev is now in mode plan.");
  await run("/mode", "permission mode: plan");
  await done("task", "add", "Look around");
  await run("/tasks", /#1 .*Look around/);
  await run("/status", "0 of 1 tasks done");
});

it("a resumed teammate › shows the last screenful of its conversation again, and its input line", async () => {
  const { t, ref, done, user } = await teammate();
  const before = readPlace(ref, "dev");
  t.tmux("kill-pane", "-t", user().pane);
  await eventually("dev's end", () => startTimeOf(readStatus(ref, "dev")?.process.pid ?? 0) === undefined);
  await done("resume", "crew");
  await eventually("a new pane", () => readPlace(ref, "dev")?.paneId !== before?.paneId);
  const dev = user();
  const shown = await dev.sees(/The work[\s\S]*● Write\(made\.txt\)[\s\S]*It is committed\.[\s\S]*\n›/);
  expect(shown).not.toContain("# The work");
  dev.type("again", "Enter");
  await dev.sees("And once more.");
});

const LEAD = {
  version: 1,
  agents: {
    "team-lead": [
      { say: "I start it.", tools: [bash("echo begun; sleep 300", { run_in_background: true })] },
      { say: "It runs.", usage: { input: 40, output: 2 } },
    ],
  },
};

it("a lead's pane › runs /help, /mode, /bg, /cost, /export, /diff and /land for its team", async () => {
  const t = privateTmux({ env: GIT_IDENTITY });
  const repository = createRepository(realpathSync(t.home));
  writeFileSync(join(repository, "play.json"), JSON.stringify(LEAD));
  const words = ["run", "--team", "crew", "--playbook", "play.json", "--no-sidebar", "look"];
  const mode = ["--permission-mode", "bypassPermissions"];
  const person = personInside(t, [...words, ...mode], { cwd: repository });
  await person.sees("It runs.");
  const run = async (command: string, answer: string | RegExp): Promise<string> => {
    person.type(command, "Enter");
    return person.sees(answer);
  };
  await run("/help", /^\/delegate +/m);
  await run("/mode", "permission mode: bypassPermissions");
  await run("/bg", /team-lead +bash-\w+ +running/);
  await run("/cost", /this agent: 42 tokens, 2 of them output/);
  await run("/export", "teams-crew-team-lead.txt");
  expect(readFileSync(join(repository, "teams-crew-team-lead.txt"), "utf8")).toContain("It runs.");
  await run("/land", "No agent has a worktree. Spawn one with --worktree.");
  // The diff's own line: earlier answers name the file too, and a warning above the diff may be off the screen.
  await run("/diff", /^A teams-crew-team-lead\.txt$/m);
  await person.endsRun();
  expect(await person.code()).toBe(130);
});
