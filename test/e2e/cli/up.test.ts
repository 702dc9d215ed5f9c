import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { standIn } from "../../support/cli/stand-in.ts";
import { git } from "../../support/files/git.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const acpProgram = scriptFile("cli/acp");

const write = (path: string, as: string): object => ({
  name: "Write",
  as,
  input: { file_path: `{{cwd}}/${path}`, content: "x" },
});

/** ada tries to write everywhere, and writes `src/reason` only if the last refusal gives its reason. */
const PLAYBOOK = {
  version: 1,
  agents: {
    ada: [
      { on: { contains: "Go." }, tools: [write("package.json", "denied"), write("src/a.ts", "made")] },
      { tools: [{ name: "Bash", input: { command: "echo x > outside.txt" } }] },
      {
        on: { contains: "This agent may write only src/**; the call would change " },
        tools: [{ name: "Write", input: { file_path: "{{cwd}}/src/reason", content: "told" } }],
      },
      { say: "done" },
    ],
    fay: [{ tools: [write("made", "made")] }, { say: "done" }],
    "*": [{ say: "done" }],
  },
};

interface Report {
  readonly changed: boolean;
  readonly members: readonly { readonly name: string; readonly worktree: string | null }[];
  readonly resumed: readonly string[];
}

/** Creates a project: `declare` writes its team file, and `up` starts the team without tmux. */
function project() {
  const place = privateTmux();
  const { env, home } = place;
  const teams = teamsIn(env, home);
  const declare = (content: object): void => writeFileSync(join(home, "team.json"), JSON.stringify(content));
  const up = async (): Promise<Report> => {
    const done = await teams(["up", "team.json", "--yes", "--json", "--teammate-mode", "process"]);
    expect(done.err).toBe("");
    return done.json<Report & Record<string, unknown>>();
  };
  writeFileSync(join(home, "play.json"), JSON.stringify(PLAYBOOK));
  return { place, teams, home, declare, up };
}

const ADA = { name: "ada", prompt: "Go.", permissionMode: "bypassPermissions", writes: ["src/**"] };
const CREW = { name: "crew", model: "scripted:play.json", members: [ADA] };

it("up › starts members that can write only what the file allows, and a second call changes nothing", async () => {
  const { teams, home, declare, up } = project();
  declare({ ...CREW, tasks: [{ subject: "Build", owner: "ada" }] });
  expect((await teams(["trust", "team.json"])).code).toBe(0);
  expect(await up()).toMatchObject({ changed: true, members: [{ name: "ada" }] });
  await eventually("the file that ada writes after the refusal", () => existsSync(join(home, "src/reason")));
  expect([existsSync(join(home, "src/a.ts")), existsSync(join(home, "package.json"))]).toEqual([true, false]);
  expect(existsSync(join(home, "outside.txt"))).toBe(false);
  const inbox = (await teams(["inbox", "ada", "--all", "--json"])).json<{ messages: { text: string }[] }>();
  expect(JSON.stringify(inbox.messages)).toContain("task_assignment");
  expect(await up()).toMatchObject({ changed: false, members: [], resumed: [] });
  expect((await teams(["kill", "crew", "--force"])).code).toBe(0);
});

it("up › says which members are not recorded", async () => {
  const { teams, declare } = project();
  declare({ name: "crew", model: "scripted:play.json", members: [{ name: "bob", prompt: "Wait." }] });
  const started = await teams(["up", "team.json", "--yes", "--teammate-mode", "process", "--rec"]);
  expect(started.code).toBe(0);
  expect(started.err).toContain("bob is not recorded: it has no tmux pane.");
  expect((await teams(["kill", "crew", "--force"])).code).toBe(0);
});

it("up › starts a member in its own worktree, and a member that runs another program", async () => {
  const { place, teams, home, declare, up } = project();
  git(home, "init", "--quiet", "--initial-branch=main");
  git(home, "commit", "--quiet", "--allow-empty", "--message", "first");
  const acp = { channel: "acp", resume: "load", modes: { default: "ask" } } as const;
  const { home: _, ...fake } = standIn(place, "fake", acpProgram(), acp);
  writeFileSync(join(place.root, "settings.json"), JSON.stringify({ teams: { adapters: { fake } } }));
  const fay = { name: "fay", prompt: "Go.", permissionMode: "acceptEdits", worktree: true };
  const cem = { name: "cem", prompt: "say: hello from the other program", cli: "fake" };
  declare({ name: "crew", model: "scripted:play.json", members: [fay, cem] });
  expect((await teams(["trust", "team.json"])).code).toBe(0);
  const { members } = await up();
  const worktree = members[0]?.worktree ?? expect.fail("fay has no worktree.");
  expect(git(worktree, "branch", "--show-current")).toBe("teams/crew/fay");
  await eventually("the edit of fay", () => existsSync(join(worktree, "made")));
  expect([existsSync(join(home, "made")), members[1]?.worktree]).toEqual([false, null]);
  await eventually("the last words of cem", async () =>
    (await teams(["inbox", "team-lead", "--all", "--json"])).out.includes("hello from the other program"),
  );
  expect((await teams(["kill", "crew", "--force"])).code).toBe(0);
});

it("up › adds members, changes modes and budgets, restarts stopped members, and ends nothing", async () => {
  const { teams, declare, up } = project();
  const bob = { name: "bob", prompt: "Wait." };
  declare({ name: "crew", model: "scripted:play.json", members: [bob] });
  await up();
  const eve = { name: "eve", prompt: "Wait." };
  declare({
    name: "crew",
    model: "scripted:play.json",
    members: [{ ...bob, permissionMode: "dontAsk", maxTokens: "2k" }, eve],
  });
  expect(await up()).toMatchObject({ changed: true, members: [{ name: "eve" }], resumed: [] });
  expect((await teams(["down", "crew", "--timeout", "180"])).code).toBe(0);
  declare({ name: "crew", model: "scripted:play.json", members: [eve] });
  expect(await up()).toMatchObject({
    ...{ members: [], resumed: ["eve"] },
    left: ["Members that are not in team.json, so left as they are: bob."],
  });
  const { members } = (await teams(["status", "--json"])).json<{
    members: { name: string; mode: string; alive: boolean | null }[];
  }>();
  expect(members.slice(1)).toMatchObject([
    { name: "bob", mode: "dontAsk", alive: false },
    { name: "eve", alive: true },
  ]);
  expect((await teams(["budget", "bob"])).out).toContain("of 2,000 tokens");
  expect((await teams(["kill", "crew", "--force"])).code).toBe(0);
});

it("up › exits without a change on Ctrl-C at its question", async () => {
  const { place, teams, declare, up } = project();
  declare({ name: "crew", tasks: [{ subject: "First" }] });
  await up();
  declare({ name: "crew", tasks: [{ subject: "First" }, { subject: "Second" }] });
  const person = personInside(place, ["up", "team.json"]);
  await person.sees("Make these changes? [y/N]");
  person.type("C-c");
  expect(await person.code()).toBe(130);
  expect(person.screen()).toContain("Nothing was changed.");
  const { tasks } = (await teams(["task", "list", "--json"])).json<{ tasks: object[] }>();
  expect(tasks).toHaveLength(1);
});

it("up › says what it did before a failure, and continues when it is called again", async () => {
  const { teams, declare, up } = project();
  const members = [
    { name: "bob", prompt: "Wait." },
    { name: "eve", prompt: "Wait.", worktree: true },
  ];
  declare({
    name: "crew",
    model: "scripted:play.json",
    members,
    tasks: [{ subject: "Build", owner: "eve" }],
  });
  const failed = await teams(["up", "team.json", "--json", "--teammate-mode", "process"]);
  expect(failed.error()).toMatchObject({
    message: expect.stringMatching(
      /^eve could not be started: .* Started and still running: bob\.\nBefore that, team crew was created; 1 task was added\. All of that stays\.$/s,
    ),
    hint: expect.stringContaining(
      "To continue, run the command again with --yes. To give up: teams kill crew",
    ),
  });
  // status sees the task while its owner is not a member yet.
  expect((await teams(["status", "crew"])).code).toBe(0);
  declare({
    name: "crew",
    model: "scripted:play.json",
    members: [members[0], { ...members[1], worktree: false }],
  });
  expect(await up()).toMatchObject({ changed: true, members: [{ name: "eve" }], tasks: [] });
  const messages = (await teams(["inbox", "eve", "--all"])).out;
  expect(messages.match(/Task #1 is assigned to you|task_assignment/g)).toHaveLength(1);
  expect((await teams(["kill", "crew", "--force"])).code).toBe(0);
});

it("up › lets the declared lead take over once the members run", async () => {
  const { teams, home, declare } = project();
  const play = {
    version: 1,
    agents: {
      "team-lead": [
        {
          on: { contains: "Lead them." },
          tools: [{ name: "TaskUpdate", input: { taskId: "1", status: "completed" } }],
        },
        { say: "All done." },
      ],
      "*": [{ say: "done" }],
    },
  };
  writeFileSync(join(home, "lead.json"), JSON.stringify(play));
  declare({
    ...{ name: "crew", model: "scripted:lead.json", lead: { goal: "Lead them." } },
    ...{ members: [{ name: "bob", prompt: "Wait." }], tasks: [{ subject: "Build" }] },
  });
  const run = await teams(["up", "team.json", "--teammate-mode", "process"]);
  expect(run.code).toBe(0);
  expect(run.out).toContain("All done.");
  const { tasks } = (await teams(["task", "list", "--json"])).json<{ tasks: object[] }>();
  expect(tasks).toMatchObject([{ status: "completed" }]);
  // The lead has led the team: up does not start it again.
  expect((await teams(["up", "team.json", "--dry-run", "--json"])).json()).toMatchObject({
    lead: false,
    left: ["The team's lead has ended. To resume it: teams run --resume --team crew"],
  });
  expect((await teams(["kill", "crew", "--force"])).code).toBe(0);
});
