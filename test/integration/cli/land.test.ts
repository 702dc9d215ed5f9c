import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWorktree } from "../../../src/operations/worktrees/create-worktree.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { type TeamRef, teamRef } from "../../../src/team/ref.ts";
import { GIT_IDENTITY, git } from "../../support/files/git.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";
import { commitFile, createRepository } from "../../support/team/landing-team.ts";
import { statusOf } from "../../support/team/status-records.ts";
import { contextOf } from "../../support/worker/start-worker.ts";

/** Creates a team whose member has a commit in a worktree of the repository in which commands run. */
async function teamWithWork(): Promise<{
  readonly teams: Cli;
  readonly ref: TeamRef;
  readonly worktree: string;
}> {
  const teams = cliIn();
  const repository = createRepository(realpathSync(teams.directory));
  await teams(["create", "review"]);
  const ref = teamRef({ root: teams.root, runtime: join(teams.directory, "runtime", "teams") }, "review");
  const [member] = await addMembers(ref, [{ name: "dev", cwd: repository }]);
  if (member === undefined) throw new Error("The member was not added.");
  const ctx = contextOf(ref, undefined, { env: GIT_IDENTITY, cwd: repository });
  const { member: dev } = await createWorktree(ctx, member, {}, {});
  commitFile(dev.cwd, "a.txt", "a\n");
  return { teams, ref, worktree: dev.cwd };
}

const env = GIT_IDENTITY;

test("land › prints what landed and where, with a note when nothing was checked", async () => {
  const { teams, ref } = await teamWithWork();
  const { code, out, err } = await teams(["land", "dev"], { env });
  expect({ code, err }).toEqual({
    code: 0,
    err: "Nothing was checked: set teams.verify in your settings, or pass --verify.\n",
  });
  expect(out).toMatch(/^dev: landed 1 commit on main \([0-9a-f]{10}\), and updated the files of \/.*\.\n$/);
  writeStatus(ref, "dev", statusOf({ state: "idle" }));
  expect((await teams(["land"], { env })).out).toBe("dev: nothing to land; main has all its commits.\n");
});

test("land › runs the check of the settings or of --verify, and exits with 1 if the check fails", async () => {
  const { teams } = await teamWithWork();
  await teams(["task", "add", "work", "--owner", "dev"]);
  await teams(["task", "done", "1"]);
  mkdirSync(teams.root, { recursive: true });
  const settings = { teams: { verify: "echo 'from \x1b[31msettings'; exit 3" } };
  writeFileSync(join(teams.root, "settings.json"), JSON.stringify(settings));
  const failed = await teams(["land", "dev"], { env });
  expect(failed.code).toBe(1);
  expect(failed.err).toMatch(/^dev: checking: echo/);
  const [first, ...rows] = failed.out.trimEnd().split("\n");
  expect(first).toMatch(/^dev: not landed: The check failed on top of main \(exit code 3\): echo/);
  expect(rows).toEqual(["  | from settings", "  dev was notified; task #1 is open."]);
  const landed = await teams(["land", "dev", "--verify", "test -f a.txt", "--json"], { env });
  expect(landed.json()).toMatchObject({
    verify: "test -f a.txt",
    landings: [{ agent: "dev", outcome: "landed", commits: 1 }],
  });
});

test("land › ignores the check of an untrusted project, and does not let an agent choose one", async () => {
  const { teams, ref } = await teamWithWork();
  writeStatus(ref, "dev", statusOf({ state: "idle" }));
  mkdirSync(join(teams.directory, ".claude"));
  const project = { teams: { verify: `touch '${teams.directory}/ran'; false` } };
  writeFileSync(join(teams.directory, ".claude", "settings.json"), JSON.stringify(project));
  const lead = { ...env, TEAMS_AGENT: "team-lead@review" };
  const refused = await teams(["land", "dev", "--verify", "true", "--json"], { env: lead });
  expect(refused.error().code).toBe("PERMISSION_DENIED");
  const teammate = { ...env, TEAMS_AGENT: "dev@review" };
  expect((await teams(["land", "dev", "--json"], { env: teammate })).error().code).toBe("NOT_LEAD");
  expect((await teams(["land", "--json"], { env: lead })).json()).toMatchObject({
    verify: null,
    landings: [{ outcome: "landed" }],
  });
  expect(git(teams.directory, "log", "--format=%s", "-1")).toBe("Change a.txt");
});

test("land › runs the check in the sandbox of the agent's commands", async () => {
  const { teams } = await teamWithWork();
  const escaped = join(teams.directory, "escaped");
  const settings = { teams: { verify: `touch '${escaped}'; false`, sandbox: { mode: "required" } } };
  writeFileSync(join(teams.root, "settings.json"), JSON.stringify(settings));
  // Without a sandbox, land refuses to run the check; in a sandbox, the check cannot create this file.
  expect((await teams(["land", "dev"], { env })).code).toBe(1);
  expect(existsSync(escaped)).toBe(false);
  writeFileSync(
    join(teams.root, "settings.json"),
    JSON.stringify({ teams: { verify: `touch '${escaped}'` } }),
  );
  expect((await teams(["land", "dev"], { env })).code).toBe(0);
  expect(existsSync(escaped)).toBe(true);
});
