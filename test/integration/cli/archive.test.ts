import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { addMembers } from "../../../src/team/members/members.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { afterReading } from "../../support/files/around-reading.ts";
import { type Cli, cliIn, inThisProcess } from "../../support/processes/in-process-cli.ts";

/** Returns a CLI whose home has one team with a task and a message. */
async function home(): Promise<Cli> {
  const teams = cliIn();
  await teams(["create", "My Review"]);
  await teams(["task", "add", "Read it"]);
  await teams(["send", "team-lead", "hello"]);
  return teams;
}

const archives = (teams: Cli): string[] =>
  readdirSync(teams.directory).filter((name) => name.endsWith(".tar.gz"));
const tasksOf = async (teams: Cli, team: string): Promise<unknown> =>
  (await teams(["task", "list", "--team", team, "--json"])).json();

describe("teams export and import", () => {
  it("save a team to a file named after team and time, and restore it", async () => {
    const teams = await home();
    const tasks = await tasksOf(teams, "my-review");
    const saved = await teams(["export", "my-review", "--json"]);
    const { file, files } = saved.json<{ file: string; files: number }>();
    expect(file).toMatch(/\/my-review-\d{8}-\d{6}\.tar\.gz$/);
    // Config, task, inbox, journal and events; the manifest is not counted.
    expect(files).toBe(5);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await teams(["delete", "my-review"]);
    const made = await teams(["import", file]);
    expect(made.out).toBe("Imported team my-review: 1 member, 1 task.\nNext: teams status my-review\n");
    expect(await tasksOf(teams, "my-review")).toEqual(tasks);
    expect((await teams(["inbox", "team-lead"])).out).toContain("hello");
  });

  it("work through a pipe, and name the imported team as asked", async () => {
    const teams = await home();
    const { bytes, out } = await teams(["export", "-o", "-"]);
    expect(out).toBe("");
    const other = cliIn();
    const made = await other(["import", "-", "--name", "Other", "--json"], { stdin: bytes });
    expect(made.json()).toMatchObject({ team: "other", from: "my-review", members: ["team-lead"], tasks: 1 });
    const again = await other(["import", "-", "--name", "other", "--json"], { stdin: bytes });
    expect([again.code, again.error().code]).toEqual([4, "TEAM_EXISTS"]);
    const third = await other(["import", "-", "--name", "other", "--unique", "--json"], { stdin: bytes });
    expect(third.json()).toMatchObject({ team: "other-2" });
  });

  it("say when the team kept writing during the export, also through a pipe", async () => {
    const teams = await home();
    const { config, journal } = teamRef(teamsHome(teams.env), "my-review").paths;
    const write = (): void => {
      appendFileSync(journal, "\n");
      afterReading(config, write);
    };
    afterReading(config, write);
    for (const words of [["export"], ["export", "-o", "-"]])
      expect((await teams(words)).err).toContain("The team kept writing during the export");
  });

  it("name the rights of members that they drop, since the archive may come from elsewhere", async () => {
    const teams = await home();
    const config = join(teams.root, "teams", "my-review", "config.json");
    const bold = JSON.parse(readFileSync(config, "utf8"));
    bold.members[0].mode = "bypassPermissions";
    bold.members[0].metadata = { _cli: "claude-acp" };
    writeFileSync(config, JSON.stringify(bold));
    const { bytes } = await teams(["export", "-o", "-"]);
    const made = await teams(["import", "-", "--unique"], { stdin: bytes });
    expect(made.out).toContain(
      "Dropped, since an archive may come from others:\n  team-lead: mode bypassPermissions\n" +
        "A restart runs these programs with your login:\n  team-lead: claude-acp\n",
    );
  });

  it("suggest teams resume for a team with agents", async () => {
    const teams = await home();
    const ref = teamRef({ root: teams.root, runtime: join(teams.directory, "runtime") }, "my-review");
    await addMembers(ref, [{ name: "dev", cwd: teams.directory }]);
    const { bytes } = await teams(["export", "-o", "-"]);
    const made = await teams(["import", "-", "--name", "copy"], { stdin: bytes });
    expect(made.out).toMatch(/\nNext: teams resume copy\n$/);
  });

  it("name the missing directory of an archive, with a hint", async () => {
    const teams = await home();
    const { message, hint } = (await teams(["export", "-o", "nowhere/x.tar.gz", "--json"])).error();
    const directory = join(teams.directory, "nowhere");
    expect(message).toBe(`The directory ${directory} for x.tar.gz does not exist; nothing was saved.`);
    expect(hint).toBe(`Create it: mkdir -p ${directory}; or name another file with -o.`);
  });

  it("replace the named file only if the export succeeds", async () => {
    const teams = await home();
    const file = join(teams.directory, "x.tar.gz");
    writeFileSync(file, "old");
    writeFileSync(join(teams.root, "tasks", "my-review", "1.json"), "{");
    expect((await teams(["export", "-o", "x.tar.gz", "--json"])).error().code).toBe("CORRUPT_FILE");
    expect(readFileSync(file, "utf8")).toBe("old");
    await teams(["task", "rm", "1"]);
    writeFileSync(
      join(teams.root, "tasks", "my-review", "1.json"),
      '{"id":"1","subject":"a","status":"pending"}',
    );
    expect((await teams(["export", "-o", "x.tar.gz", "-q"])).out).toBe("");
    expect(readFileSync(file).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect(readdirSync(teams.directory).filter((name) => name.includes(".tmp"))).toEqual([]);
  });

  it("write a named pipe in place, and never replace it", async () => {
    const teams = await home();
    const pipe = join(teams.directory, "pipe");
    execFileSync("mkfifo", [pipe]);
    const reader = spawn("cat", [pipe], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => {
      reader.kill("SIGKILL");
    });
    const saving = teams(["export", "-o", "pipe", "--json"]);
    const saved = (await saving).json<{ bytes: number }>();
    expect(lstatSync(pipe).isFIFO()).toBe(true);
    const bytes = await buffer(reader.stdout);
    expect(bytes.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect(saved.bytes).toBe(bytes.length);
    expect((await teams(["import", "-", "--name", "copy"], { stdin: bytes })).code).toBe(0);
  });

  it.runIf(existsSync("/dev/full"))("write a device through a link, and say that it failed", async () => {
    const teams = await home();
    const link = join(teams.directory, "full");
    symlinkSync("/dev/full", link);
    const { message } = (await teams(["export", "-o", "full", "--json"])).error();
    expect(message).toBe(`${link} cannot be written (ENOSPC); the archive is incomplete.`);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(lstatSync("/dev/full").isCharacterDevice()).toBe(true);
  });

  it("replace the file that a link leads to, not the link", async () => {
    const teams = await home();
    const file = join(teams.directory, "x.tar.gz");
    writeFileSync(file, "old");
    symlinkSync("x.tar.gz", join(teams.directory, "link"));
    expect((await teams(["export", "-o", "link"])).code).toBe(0);
    expect(lstatSync(join(teams.directory, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(file).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  });

  it("read /dev/stdout as -, since other lines would overwrite the archive", async () => {
    const teams = await home();
    const { bytes, out } = await teams(["export", "-o", "/dev/stdout"]);
    expect(out).toBe("");
    expect(bytes.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  });

  it("refuse a terminal, a directory and a missing file", async () => {
    const teams = await home();
    for (const [words, options] of [
      [["export", "-o", "-"], { terminal: true }],
      [["export", "-o", "."], {}],
      [["export", "-o", "no/such/x.tar.gz"], {}],
      [["import", "-"], { terminal: true }],
      [["import", "nothing.tar.gz"], {}],
      [["import", "."], {}],
    ] as const) {
      const ended = await teams([...words, "--json"], options);
      expect([words, ended.error().code]).toEqual([words, "INVALID_INPUT"]);
    }
    expect(archives(teams)).toEqual([]);
  });

  it("refuse an import by a teammate", async () => {
    const teams = await home();
    const { bytes } = await teams(["export", "-o", "-"]);
    const env = { TEAMS_AGENT: "dev@my-review" };
    const ended = await teams(["import", "-", "--unique", "--json"], { stdin: bytes, env });
    expect(ended.error().code).toBe("NESTED_TEAM");
  });
});

describe("teams delete --backup", () => {
  it("saves the team first and prints the archive's path", async () => {
    const teams = await home();
    const ended = await teams(["delete", "my-review", "--backup"]);
    const [name = ""] = archives(teams);
    const file = join(teams.directory, name);
    expect(ended.out).toBe(
      `Deleted team my-review.\nIts archive: ${file}\nTo restore it: teams import ${file}\n`,
    );
    expect((await teams(["import", file])).code).toBe(0);
    expect(await tasksOf(teams, "my-review")).toMatchObject({ tasks: [{ subject: "Read it" }] });
  });

  it("says that the archive is in a git worktree, as export does", async () => {
    const teams = await home();
    mkdirSync(join(teams.directory, ".git"));
    const top = realpathSync(teams.directory);
    const warning = `The archive is in the git worktree ${top}, and contains whole conversations: move it, or don't commit it.\n`;
    expect((await teams(["export", "my-review", "-o", "again.tar.gz"])).out).toContain(warning);
    expect((await teams(["delete", "my-review", "--backup"])).out).toContain(warning);
  });

  it("deletes nothing if it cannot save", async () => {
    const teams = await home();
    const task = join(teams.root, "tasks", "my-review", "1.json");
    writeFileSync(task, "{");
    const ended = await teams(["delete", "my-review", "--backup", "--force", "--json"]);
    expect(ended.error().code).toBe("CORRUPT_FILE");
    expect(existsSync(join(teams.root, "teams", "my-review", "config.json"))).toBe(true);
    expect(readFileSync(task, "utf8")).toBe("{");
    expect(archives(teams)).toEqual([]);
  });

  it("says that nothing is deleted if the archive cannot be written", async () => {
    const teams = await home();
    const there = inThisProcess(teams.env, join(teams.directory, "gone"));
    const failed = await there(["delete", "my-review", "--backup", "--json"]);
    expect(failed.error()).toMatchObject({
      message: expect.stringMatching(/does not exist; nothing was saved\. Nothing was deleted\.$/),
      hint: expect.stringMatching(/; or run it in another directory\.$/),
    });
    expect(existsSync(join(teams.root, "teams", "my-review", "config.json"))).toBe(true);
  });

  it("names the archive if the deletion fails after it", async () => {
    const teams = await home();
    const tasks = join(teams.root, "tasks");
    rmSync(tasks, { recursive: true });
    writeFileSync(tasks, "A file in the place of the directory.");
    const failed = await teams(["delete", "my-review", "--backup", "--json"]);
    const [name = ""] = archives(teams);
    const file = join(teams.directory, name);
    expect(failed.error()).toMatchObject({
      message: expect.stringContaining(`The archive was already saved: ${file}`),
      details: { backup: file },
    });
    expect(existsSync(join(teams.root, "teams", "my-review", "config.json"))).toBe(true);
  });
});
