import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { git } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";
import { eventually } from "../../support/timing/eventually.ts";

interface Given {
  readonly user?: Readonly<Record<string, string>>;
  readonly project?: Readonly<Record<string, string>>;
}

/** Creates a team with these hooks in the settings of the user and the project. */
async function teamWith({ user, project }: Given): Promise<Cli> {
  const cli = cliIn();
  const write = (directory: string, hooks: Readonly<Record<string, string>>): void => {
    mkdirSync(directory, { recursive: true });
    const groups = Object.entries(hooks).map(([event, command]) => [
      event,
      [{ hooks: [{ type: "command", command }] }],
    ]);
    writeFileSync(join(directory, "settings.json"), JSON.stringify({ hooks: Object.fromEntries(groups) }));
  };
  if (user !== undefined) write(cli.root, user);
  if (project !== undefined) write(join(cli.directory, ".claude"), project);
  await cli(["create", "crew"]);
  return cli;
}

const subjects = async (cli: Cli): Promise<string[]> =>
  (await cli(["task", "list", "--json"]))
    .json<{ tasks: { id: string; subject: string; status: string }[] }>()
    .tasks.map(({ id, subject, status }) => `${id} ${subject}: ${status}`);

describe("task hooks on the command line", () => {
  it("can refuse to add or complete a task", async () => {
    const cli = await teamWith({
      user: {
        TaskCreated: "cat > task; grep -q Bad task && { echo 'name it better' >&2; exit 2; }; exit 0",
        TaskCompleted: "[ -e red ] && { echo 'the build is red' >&2; exit 2; }; exit 0",
      },
    });
    const refused = await cli(["task", "add", "Bad", "--json"]);
    expect(refused.code).toBe(1);
    expect(refused.error()).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(refused.error().message).toContain("name it better");
    await cli(["task", "add", "Good", "-d", "more of it"]);
    expect(JSON.parse(readFileSync(join(cli.directory, "task"), "utf8"))).toMatchObject({
      hook_event_name: "TaskCreated",
      task_id: "2",
      task_subject: "Good",
      task_description: "more of it",
      teammate_name: "team-lead",
      team_name: "crew",
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      cwd: cli.directory,
    });
    writeFileSync(join(cli.directory, "red"), "");
    for (const words of [
      ["done", "2"],
      ["update", "2", "--status", "completed"],
    ]) {
      expect((await cli(["task", ...words, "--json"])).error().message).toContain("the build is red");
    }
    expect(await subjects(cli)).toEqual(["2 Good: pending"]);
  });

  it("leave the task unchanged if they are interrupted", async () => {
    const hangs = "[ -e hold ] || exit 0; touch held; sleep 600";
    const cli = await teamWith({ user: { TaskCreated: hangs, TaskCompleted: hangs } });
    await cli(["task", "add", "Good"]);
    writeFileSync(join(cli.directory, "hold"), "");
    for (const words of [
      ["done", "1"],
      ["add", "Late"],
    ]) {
      const interrupt = new AbortController();
      const ended = cli(["task", ...words, "--json"], { signal: interrupt.signal });
      await eventually("the hook", () => existsSync(join(cli.directory, "held")));
      interrupt.abort();
      expect((await ended).error().code).toBe("INTERRUPTED");
      rmSync(join(cli.directory, "held"));
    }
    expect(await subjects(cli)).toEqual(["1 Good: pending"]);
  });

  it("run in a linked worktree from the local settings of the main worktree", async () => {
    const directory = temporaryDirectory();
    const [repo, linked] = [join(directory, "repo"), join(directory, "linked")];
    mkdirSync(join(repo, ".claude"), { recursive: true });
    git(repo, "init", "--quiet");
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "x");
    git(repo, "worktree", "add", "--quiet", linked);
    const hooks = { TaskCreated: [{ hooks: [{ type: "command", command: "echo not now >&2; exit 2" }] }] };
    writeFileSync(join(repo, ".claude", "settings.local.json"), JSON.stringify({ hooks }));
    const cli = cliIn(linked);
    await cli(["create", "crew"]);
    expect((await cli(["task", "add", "One"])).code).toBe(0);
    await cli(["trust"]);
    expect((await cli(["task", "add", "Two", "--json"])).error().message).toContain("not now");
    expect(await subjects(cli)).toEqual(["1 One: pending"]);
  });

  it("do not prevent a task when they fail, and the failure is printed", async () => {
    const cli = await teamWith({ user: { TaskCreated: "exit 3" } });
    const { code, err } = await cli(["task", "add", "Good"]);
    expect([code, await subjects(cli)]).toEqual([0, ["1 Good: pending"]]);
    expect(err).toContain("Hook TaskCreated: non-blocking error (exit 3): exit code 3");
  });

  it("of a project run only if its directory is trusted (S70)", async () => {
    const cli = await teamWith({ project: { TaskCreated: "touch ran; exit 2" } });
    expect((await cli(["task", "add", "Good"])).code).toBe(0);
    expect(existsSync(join(cli.directory, "ran"))).toBe(false);
    await cli(["trust"]);
    expect((await cli(["task", "add", "Better"])).code).toBe(1);
    expect(existsSync(join(cli.directory, "ran"))).toBe(true);
  });

  it("run for a command that sets TEAMS_HOOK but is not run by a hook", async () => {
    const cli = await teamWith({ user: { TaskCreated: "exit 2" } });
    const env = { TEAMS_HOOK: "TaskCreated" };
    expect((await cli(["task", "add", "Bad", "--json"], { env })).error().code).toBe("PERMISSION_DENIED");
  });
});
