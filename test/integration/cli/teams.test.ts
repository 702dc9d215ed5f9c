import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runtimeOfRoot } from "../../../src/protocol/paths.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import { failingRenames } from "../../support/files/failing-renames.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";

describe("a command without --team › with several teams", () => {
  it("acts on the team of the named member or request, else on that of the directory", async () => {
    const teams = cliIn();
    const ref = (name: string) =>
      teamRef({ root: teams.root, runtime: join(teams.directory, "runtime", "teams") }, name);
    for (const [team, name] of [
      ["one", "ada"],
      ["two", "ben"],
    ] as const) {
      await teams(["create", team]);
      await addMembers(ref(team), [{ name, cwd: join(teams.directory, team) }]);
    }
    expect((await teams(["send", "ben", "hello", "--json"])).json()).toMatchObject({ team: "two" });
    openRequest(ref("two"), { id: "p-1", kind: "plan", from: "ben", summary: "s", payload: {}, at: 1 });
    expect((await teams(["approve", "ben"])).out).toBe("Approved: plan of ben: s\n");
    const status = (PWD: string) => teams(["status", "--json"], { env: { PWD } });
    expect((await status(join(teams.directory, "one/src"))).json()).toMatchObject({ team: "one" });
    expect((await status("/elsewhere")).error()).toMatchObject({
      message: "There are 2 teams, and none was selected.",
    });
  });
});

const OF_A_TEAM = ["delete", "status", "down", "resume", "events", "export", "doctor"];

describe("a command whose operand and --team name two teams", () => {
  it.each(OF_A_TEAM)("%s is refused", async (word) => {
    const teams = cliIn();
    for (const team of ["review", "docs"]) await teams(["create", team]);
    const refused = await teams([word, "review", "--team", "docs", "--json"]);
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.error()).toMatchObject({
      code: "INVALID_INPUT",
      message: "The command names two teams: review, and --team docs.",
    });
    for (const team of ["review", "docs"])
      expect((await teams(["status", team, "--team", team])).code).toBe(0);
  });
});

describe("an option that would have no effect", () => {
  it.each([
    ["run accepts --effort only with --cli.", "run --resume --team review --effort high go"],
    ["resume accepts --now or --teammate-mode, not both.", "resume review --now --teammate-mode process"],
  ])("is refused: %s", async (message, words) => {
    const teams = cliIn();
    await teams(["create", "review"]);
    const refused = await teams([...words.split(" "), "--json"]);
    expect(refused.error()).toMatchObject({ code: "INVALID_INPUT", message });
  });
});

describe("teams create, ls and delete", () => {
  it("ls suggests a command when there is no team yet", async () => {
    const teams = cliIn();
    const ended = await teams(["ls"]);
    expect(ended).toMatchObject({ code: 0, err: "" });
    expect(ended.out).toContain("No teams yet. Try: teams run");
    expect((await teams(["ls", "--json"])).json()).toEqual({ teams: [] });
  });

  it("create --metadata saves values that status --json shows", async () => {
    const teams = cliIn();
    expect((await teams(["create", "review", "--metadata", "ticket=42", "--metadata", "by="])).code).toBe(0);
    expect((await teams(["status", "--json"])).json()).toMatchObject({
      metadata: { ticket: "42", by: "" },
      members: [{ name: "team-lead", metadata: {} }],
    });
  });

  it("status names the only team when nothing shows which program created it", async () => {
    const teams = cliIn();
    await teams(["create", "crew"]);
    const config = join(teams.root, "teams", "crew", "config.json");
    writeFileSync(config, "garbage");
    rmSync(`${config}.last`);
    const ended = await teams(["status"]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("CORRUPT_FILE") });
    expect(ended.err).toContain(config);
    expect(ended.err).toContain("teams doctor crew");
  });

  it("status prints the team and the problem if an end cannot be processed", async () => {
    const teams = cliIn();
    await teams(["create", "crew"]);
    const ref = teamRef(teamsHome(teams.env), "crew");
    await addMembers(ref, [{ name: "dev", cwd: "/" }]);
    writeStatus(ref, "dev", statusOf({ process: deadProcess(), state: "running" }));
    failingRenames((_from, to) => to === ref.paths.inbox(LEAD_NAME));
    const ended = await teams(["status"]);
    expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(/dev +crashed/) });
    expect(ended.out).toMatch(/Problems:\nThe end of dev is not fully processed: .*team-lead.* try again\./);
    const { problems } = (await teams(["status", "--json"])).json<{ problems: string[] }>();
    expect(problems).toEqual([expect.stringContaining("The end of dev")]);
  });

  it("create a team, list it and delete it", async () => {
    const teams = cliIn();
    const made = await teams(["create", "My Review", "-d", "for a test", "--json"]);
    expect(made.json()).toMatchObject({ team: "my-review", displayName: "My Review" });
    const listed = await teams(["ls", "--json"]);
    expect(listed.json()).toMatchObject({
      teams: [{ name: "my-review", description: "for a test", members: ["team-lead"], ours: true }],
    });
    expect((await teams(["ls"])).out).toContain("my-review");
    const gone = await teams(["delete", "my-review"]);
    expect(gone).toMatchObject({ code: 0, out: "Deleted team my-review.\n" });
    expect((await teams(["ls", "--json"])).json()).toEqual({ teams: [] });
  });

  it("ls shows each team's state, directory, waiting requests and cost", async () => {
    const teams = cliIn();
    const refOf = (name: string) => teamRef(teamsHome(teams.env), name);
    for (const name of ["busy", "calm", "over"]) await teams(["create", name]);
    for (const [name, status] of [
      ["busy", { state: "running", costUsd: 0.42 }],
      ["calm", { state: "idle" }],
      ["over", { state: "running", process: deadProcess() }],
    ] as const) {
      await addMembers(refOf(name), [{ name: "dev", cwd: "/" }]);
      writeStatus(refOf(name), "dev", statusOf(status));
    }
    openRequest(refOf("busy"), { id: "p-1", kind: "plan", from: "dev", summary: "s", payload: {}, at: 1 });
    const listed = (await teams(["ls", "--json"])).json<{ teams: Record<string, unknown>[] }>().teams;
    expect(listed).toMatchObject([
      {
        name: "busy",
        state: "running",
        waiting: 1,
        costUsd: 0.42,
        directory: teams.directory,
        problem: null,
      },
      { name: "calm", state: "idle", waiting: 0, costUsd: 0, members: ["team-lead", "dev"] },
      // The crash of dev waits for the user.
      { name: "over", state: "stopped", waiting: 1 },
    ]);
    for (const { createdAt } of listed) expect(new Date(String(createdAt)).toISOString()).toBe(createdAt);
    expect(listed[0]).not.toHaveProperty("requests");
    const { out } = await teams(["ls"]);
    expect(out).toMatch(/^TEAM +STATE +MEMBERS +WAITS +COST +AGE +DIRECTORY/);
    expect(out).toMatch(/\nbusy +running +2 +1 +\$0\.42 +\d+ (s|min) +~/);
    expect(out).toMatch(/\ncalm +idle +2 +\d+ (s|min) +~/);
  });

  it("ls and status show the display name, and every command accepts it", async () => {
    const teams = cliIn();
    await teams(["create", "run-1"]);
    await teams(["create", "other"]);
    const config = join(teams.root, "teams", "run-1", "config.json");
    const text = readFileSync(config, "utf8");
    writeFileSync(config, JSON.stringify({ ...JSON.parse(text), displayName: "Docs Team" }));
    expect((await teams(["ls"])).out).toContain("Docs Team (run-1)");
    expect((await teams(["status", "docs-team"])).out).toMatch(/^Docs Team \(run-1\) - /);
    const status = await teams(["status", "--team", "Docs Team", "--json"]);
    expect(status.json()).toMatchObject({ team: "run-1", displayName: "Docs Team" });
    expect((await teams(["doctor", "docs-team", "--json"])).json()).toMatchObject({
      checks: expect.arrayContaining([expect.objectContaining({ text: expect.stringContaining("run-1") })]),
    });
    expect((await teams(["delete", "docs-team"])).out).toBe("Deleted team run-1.\n");
  });

  it("quote a team name that begins with -, so no command takes it for an option", async () => {
    const teams = cliIn();
    expect((await teams(["create", "--", "-dash"])).out).toMatch(/--team=-dash\n$/);
    expect((await teams(["create", "--json", "--", "-dash"])).error().hint).toMatch(/teams delete -- -dash$/);
    expect((await teams(["status", "--team=-dash"])).code).toBe(0);
    expect((await teams(["delete", "--", "-dash"])).code).toBe(0);
  });

  it("create refuses an existing name, unless --unique is given", async () => {
    const teams = cliIn();
    await teams(["create", "review"]);
    const again = await teams(["create", "Review", "--json"]);
    expect(again.code).toBe(4);
    expect(again.error().code).toBe("TEAM_EXISTS");
    const other = await teams(["create", "review", "--unique", "--json"]);
    expect(other.json()).toMatchObject({ team: "review-2" });
  });

  it("create refuses a name without a letter or digit with exit code 2", async () => {
    const ended = await cliIn()(["create", "検査"]);
    expect(ended.code).toBe(2);
    expect(ended.err).toContain("INVALID_NAME");
    expect(ended.err).toContain("hint:");
  });

  it("create a lead that cannot be killed alone", async () => {
    const teams = cliIn();
    await teams(["create", "review"]);
    const ended = await teams(["kill", "team-lead", "--json"]);
    expect([ended.code, ended.error().code]).toEqual([2, "INVALID_INPUT"]);
    expect(ended.error().hint).toContain("teams kill --team review");
    expect((await teams(["kill", "review"])).out).toContain("The team has no teammates.");
  });

  it.each([
    ["a teammate", "dev@outer", "NESTED_TEAM", 1],
    ["a running lead", "team-lead@outer", "ALREADY_LEADING", 4],
  ])("create and run are refused in the shell of %s", async (_, agent, code, exit) => {
    const teams = cliIn();
    for (const words of [
      ["create", "inner"],
      ["run", "go", "--model", "scripted", "--permission-mode", "bypassPermissions"],
    ]) {
      const ended = await teams([...words, "--json"], { env: { TEAMS_AGENT: agent } });
      expect([ended.code, ended.error().code], words.join(" ")).toEqual([exit, code]);
    }
    expect((await teams(["ls", "--json"])).json()).toEqual({ teams: [] });
  });

  it("ls shows a team with a broken config and the reason, and leaves the file alone", async () => {
    const teams = cliIn();
    const directory = join(teams.root, "teams", "broken");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "config.json"), "{ not json");
    const listed = await teams(["ls"]);
    expect(listed.code).toBe(0);
    expect(listed.out).toMatch(/broken .*cannot be read/);
    const status = await teams(["status", "broken", "--json"]);
    expect(status.code).toBe(1);
    expect(status.error().code).toBe("CORRUPT_FILE");
    expect(readFileSync(join(directory, "config.json"), "utf8")).toBe("{ not json");
  });

  it("spare another program's team unless it is named with --force (S76)", async () => {
    const teams = cliIn();
    const directory = join(teams.root, "teams", "theirs");
    mkdirSync(directory, { recursive: true });
    const config = JSON.stringify({ name: "theirs", members: [{ name: "team-lead" }] });
    writeFileSync(join(directory, "config.json"), config);
    expect((await teams(["status", "--json"])).error().code).toBe("TEAM_NOT_FOUND");
    for (const words of [
      ["delete", "theirs"],
      ["kill", "--team", "theirs"],
    ]) {
      const ended = await teams([...words, "--json"]);
      expect(ended.code).toBe(1);
      expect(ended.error().code).toBe("PERMISSION_DENIED");
    }
    expect(readFileSync(join(directory, "config.json"), "utf8")).toBe(config);
    expect((await teams(["delete", "theirs", "--force"])).code).toBe(0);
  });
});

describe("leftovers of a team without a config", () => {
  it("are named, and removed only by name with --force (S76)", async () => {
    const teams = cliIn();
    const tasks = join(teams.root, "tasks", "orph");
    const runtime = join(runtimeOfRoot(join(teams.directory, "runtime", "teams"), teams.root), "orph");
    for (const directory of [tasks, runtime]) mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(tasks, "1.json"), '{"id":"1","subject":"x","status":"pending"}');

    const taken = (await teams(["create", "orph", "--json"])).error();
    expect(taken).toMatchObject({ code: "TEAM_EXISTS", message: expect.stringContaining(tasks) });
    expect(taken.hint).toContain("teams delete --force orph");
    const refused = await teams(["delete", "orph", "--json"]);
    expect([refused.code, refused.error().code]).toEqual([3, "TEAM_NOT_FOUND"]);
    expect(refused.error().message).toContain(`${runtime}, ${tasks}`);
    expect(refused.error().hint).toContain("teams delete --force orph");
    expect((await teams(["delete", "--force"], { env: { TEAMS_TEAM: "orph" } })).code).toBe(3);
    for (const TEAMS_AGENT of ["dev@orph", "team-lead@other"]) {
      const ended = await teams(["delete", "orph", "--force", "--json"], { env: { TEAMS_AGENT } });
      expect(ended.error().code).toBe("NOT_LEAD");
    }
    expect(readdirSync(tasks)).toEqual(["1.json"]);

    const gone = await teams(["delete", "orph", "--force", "--json"]);
    expect(gone.json()).toEqual({ team: "orph", deleted: true, removed: [runtime, tasks] });
    expect(readdirSync(join(teams.root, "tasks"))).toEqual([]);
    expect((await teams(["create", "orph"])).code).toBe(0);
    expect((await teams(["create", "orph", "--json"])).error().hint).toMatch(
      /teams status orph\. .* teams delete orph$/,
    );
  });
});

describe("choosing the team", () => {
  it("uses the only team, the option or the variable, and else lists the teams", async () => {
    const teams = cliIn();
    const teamOf = async (words: readonly string[], env: Record<string, string> = {}): Promise<unknown> =>
      (await teams([...words, "--json"], { env })).json().team;
    expect((await teams(["status", "--json"])).error()).toMatchObject({ code: "TEAM_NOT_FOUND" });
    await teams(["create", "alpha"]);
    expect(await teamOf(["status"])).toBe("alpha");
    await teams(["create", "beta"]);
    const open = await teams(["status", "--json"]);
    expect(open.code).toBe(2);
    expect(open.error().hint).toContain("alpha, beta");
    expect(await teamOf(["status", "--team", "Beta"])).toBe("beta");
    expect(await teamOf(["status", "beta"])).toBe("beta");
    expect(await teamOf(["--team", "beta", "status"])).toBe("beta");
    expect(await teamOf(["status"], { TEAMS_TEAM: "alpha" })).toBe("alpha");
    expect(await teamOf(["status"], { TEAMS_TEAM: "alpha", TEAMS_AGENT: "team-lead@beta" })).toBe("beta");
  });

  it("suggests the nearest name for an unknown team", async () => {
    const teams = cliIn();
    await teams(["create", "review"]);
    const ended = await teams(["status", "revew", "--json"]);
    expect(ended.code).toBe(3);
    expect(ended.error()).toMatchObject({ code: "TEAM_NOT_FOUND" });
    expect(ended.error().hint).toContain("review");
  });
});

describe("a runtime directory open to other users", () => {
  it("stops a spawn before anything is created, but not teams status", async () => {
    const teams = cliIn();
    await teams(["create", "review"]);
    const runtime = join(teams.directory, "runtime", "teams");
    mkdirSync(runtime, { recursive: true });
    chmodSync(runtime, 0o777);
    const ended = await teams(["spawn", "dev", "--teammate-mode", "process", "--json"]);
    expect(ended.code).toBe(1);
    expect(ended.error().code).toBe("PERMISSION_DENIED");
    expect(ended.error().message).toContain(runtime);
    expect(readdirSync(runtime)).toEqual([]);
    const { members } = (await teams(["status", "--json"])).json<{ members: object[] }>();
    expect(members).toHaveLength(1);
  });
});

describe("teams doctor", () => {
  it("prints each problem with its remedy and exits with 1; --fix prints the repairs", async () => {
    const teams = cliIn();
    await teams(["create", "crew"]);
    await teams(["task", "add", "a"]);
    writeFileSync(join(teams.root, "tasks", "crew", "1.json"), '{"id":"1","subject":"a","owner":"de');
    const found = await teams(["doctor"]);
    expect(found.code).toBe(1);
    expect(found.out).toMatch(
      /^fail +team crew .*1\.json cannot be read: it is not JSON\n +→ Repair it: teams doctor --fix$/m,
    );
    const mended = await teams(["doctor", "--fix", "crew"]);
    expect(mended.out).toMatch(/^ok +team crew +repaired task #1; the original is .*1\.json\.broken-\d+$/m);
    expect((await teams(["task", "list", "--json"])).json()).toMatchObject({
      tasks: [{ id: "1", subject: "a" }],
    });
    expect((await teams(["doctor"])).out).toMatch(/^ok +teams +all files are in order: crew$/m);
  });

  it("repairs another program's team only by name with --force (S76)", async () => {
    const teams = cliIn();
    const file = join(teams.root, "teams", "theirs", "config.json");
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, '{"members":[{"name":"team-lead"}');
    for (const words of [
      ["--fix", "theirs"],
      ["--fix", "nobody"],
    ]) {
      const { error } = await teams(["doctor", ...words, "--json"]);
      expect(error().code).toBe(words[1] === "theirs" ? "PERMISSION_DENIED" : "TEAM_NOT_FOUND");
    }
    expect((await teams(["doctor", "--fix"])).out).toContain(
      "→ Repair it: teams doctor --fix --force theirs",
    );
    expect(readFileSync(file, "utf8")).toBe('{"members":[{"name":"team-lead"}');
    expect((await teams(["doctor", "--fix", "--force", "theirs"])).out).toContain(
      "its members are team-lead",
    );
  });
});

describe("teams ls --ended", () => {
  it("lists a deleted team without a session as deleted while another such team exists", async () => {
    const teams = cliIn();
    await teams(["create", "left"]);
    const file = join(teams.root, "teams", "left", "config.json");
    const config = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(file, JSON.stringify({ ...config, leadSessionId: "" }));
    const ended = { team: "gone", createdAt: 1, endedAt: 2, cwd: "/", leadSessionId: "", sessions: [] };
    writeFileSync(join(teams.root, "teams-ended.json"), JSON.stringify({ teams: [ended] }));
    const listed = (await teams(["ls", "--ended", "--json"])).json();
    expect(listed).toMatchObject({ teams: [{ name: "gone", state: "deleted" }] });
  });
});
