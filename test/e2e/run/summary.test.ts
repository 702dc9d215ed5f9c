import { execFileSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const usage = { input: 1000, output: 234 };
const bash = (command: string) => ({ name: "Bash", input: { command } });
const MODE = ["--permission-mode", "bypassPermissions", "--no-sidebar", "--teammate-mode", "process"];

interface Summary {
  readonly sessionId: string;
  readonly durationMs: number;
  readonly tokens: number;
  readonly changes?: readonly { readonly agent: string; readonly branch: string; readonly commits: number }[];
}

/** Creates a repository with a person's uncommitted change, and a playbook outside the repository. */
async function repository(
  t: PrivateTmux,
  agents: object,
): Promise<{ readonly repo: string; readonly words: readonly string[] }> {
  const repo = join(t.home, "repo");
  mkdirSync(repo);
  const git = (...words: string[]) => execFileSync("git", words, { cwd: repo, env: t.env });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "x");
  git("config", "user.email", "x@y");
  writeFileSync(join(repo, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "-q", "-m", "first");
  const dirty = join(repo, "dirty.txt");
  writeFileSync(dirty, "of the person\n");
  // A change as recent as the run's start counts as the run's.
  const { ctimeMs } = statSync(dirty);
  await eventually("the person's change to be older than the run", () => Date.now() > ctimeMs + 1_500);
  const playbook = join(t.home, "play.json");
  writeFileSync(playbook, JSON.stringify({ version: 1, agents }));
  return { repo, words: ["run", "--team", "crew", "--playbook", playbook, ...MODE] };
}

it("the end of a run › prints time and tokens, the changes of this run, and how to read it again", async () => {
  const t = privateTmux();
  const lead = [
    { tools: [bash("echo two >>a.txt; git commit -q -am second; echo new >b.txt")], usage },
    { say: "Both are written.", usage },
  ];
  const { repo, words } = await repository(t, { "team-lead": lead });
  const person = personInside(t, [...words, "--once", "write both"], { cwd: repo });
  expect(await person.code()).toBe(0);
  const lines = person.screen().trimEnd().split("\n").slice(-3);
  expect(lines).toEqual([
    expect.stringMatching(/^(\d+ min )?\d+ s · 2\.5k tokens$/),
    "2 files changed, +2 -0: a.txt, b.txt (1 commit on main)",
    expect.stringMatching(/^To read it again: teams logs --session [0-9a-f-]{36}$/),
  ]);
});

it("the end of a run › names changed files even in a repository without a commit, and does not break a file name in 40 columns", async () => {
  const t = privateTmux();
  const repo = join(t.home, "new");
  mkdirSync(repo);
  execFileSync("git", ["init", "-q"], { cwd: repo, env: t.env });
  const playbook = join(t.home, "play.json");
  const lead = [{ tools: [bash("echo one >first-file-of-all-files.txt")] }, { say: "It is written." }];
  writeFileSync(playbook, JSON.stringify({ version: 1, agents: { "team-lead": lead } }));
  const words = ["run", "--once", "--team", "crew", "--playbook", playbook, ...MODE, "write"];
  const person = personInside(t, words, { cwd: repo, size: { width: 40, height: 24 } });
  expect(await person.code()).toBe(0);
  expect(person.screen()).toMatch(/^1 file changed, \+1 -0:\nfirst-file-of-all-files\.txt$/m);
});

it("the result of a run › counts only its own tokens after run --resume, and names the branch of a teammate", async () => {
  const t = privateTmux();
  const lead = [
    {
      on: { contains: "begin" },
      tools: [
        { name: "TaskCreate", input: { subject: "write it", description: "d" } },
        { name: "Agent", input: { name: "ann", prompt: "write", isolation: "worktree" } },
      ],
      usage,
    },
    {
      on: { contains: "finish" },
      tools: [{ name: "TaskUpdate", input: { taskId: "1", status: "completed" } }],
      usage,
    },
    { say: "That is all.", repeat: true },
  ];
  const commit = bash("echo three >c.txt; git add .; git commit -q -m third");
  const { repo, words } = await repository(t, {
    "team-lead": lead,
    ann: [{ tools: [commit] }, { say: "Written." }],
  });
  const teams = teamsIn(t.env, repo);
  const first = await teams([...words, "--json", "begin"]);
  expect(first.code, first.err).toBe(0);
  expect(first.json<Summary>()).toMatchObject({
    resume: "teams run --resume --team crew",
    tokens: 1234,
    changes: [{ agent: "ann", isOwn: true, commits: 1, files: [{ path: "c.txt", added: 1, removed: 0 }] }],
  });
  const again = await teams(["run", "--resume", "--team", "crew", "--json", "finish"]);
  expect(again.code, again.err).toBe(0);
  expect(again.json<Summary>()).toMatchObject({ tokens: 1234, changes: [{ agent: "ann" }] });
  expect(again.json<Summary>().sessionId).toBe(first.json<Summary>().sessionId);
});

it("the result of a run › lists unanswered requests, and no changes outside a repository", async () => {
  const t = privateTmux();
  const agents = {
    "team-lead": [
      { tools: [{ name: "AskUserQuestion", input: { question: "Which colour?" } }] },
      { say: "I guess." },
    ],
  };
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents }));
  const teams = teamsIn(t.env, t.home);
  const words = ["run", "--team", "crew", "--playbook", "play.json", ...MODE, "--rm", "ask"];
  const { out, err } = await teams(words);
  expect(out).toMatch(/I guess\.\n$/);
  expect(err).toMatch(
    /^Unanswered question of team-lead: Which colour\?\n(\d+ min )?\d+ s.*\nTo read it again: teams logs --session \S+\n$/,
  );
  const result = (await teams([...words, "--json"])).json<Summary>();
  expect(result).toMatchObject({
    unanswered: [{ kind: "question", from: "team-lead", summary: "Which colour?" }],
  });
  expect(result).not.toHaveProperty("changes");
  const quiet = await teams([...words, "--quiet"]);
  expect(quiet.out).toBe("I guess.\n");
});

it("the result of a run › still has the changes and tokens of a team that its lead deleted", async () => {
  const t = privateTmux();
  const lead = [
    { tools: [bash("echo new >b.txt")], usage },
    { tools: [{ name: "TeamDelete", input: {} }], usage },
    { say: "All is deleted.", usage },
  ];
  const { repo, words } = await repository(t, { "team-lead": lead });
  const ended = await teamsIn(t.env, repo)([...words, "--json", "go"]);
  expect(ended.code, ended.err).toBe(0);
  expect(ended.json<Summary>()).toMatchObject({
    tokens: 3702,
    changes: [
      { agent: "team-lead", branch: "main", commits: 0, files: [{ path: "b.txt", status: "added" }] },
    ],
  });
});
