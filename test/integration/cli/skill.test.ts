import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDocument } from "../../../src/agent/prompts/front-matter.ts";
import { SKILL } from "../../../src/cli/skill/skill-text.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

const PLACES = [".agents/skills/teams/SKILL.md", ".claude/skills/teams/SKILL.md"];

describe("teams skill", () => {
  it("prints a SKILL.md of under 120 lines, with a name and a description", async () => {
    const { code, out } = await cliIn(temporaryDirectory())(["skill"]);
    expect([code, out.trimEnd()]).toEqual([0, SKILL.trimEnd()]);
    expect(out.split("\n").length).toBeLessThan(120);
    const { matter } = readDocument(SKILL);
    expect(matter).toEqual({ name: "teams", description: expect.stringMatching(/^Lead a team .{100,900}$/) });
  });

  it("installs it where agents read skills, keeps a current copy, and replaces an older copy", async () => {
    const home = temporaryDirectory();
    const cwd = join(home, "project");
    mkdirSync(cwd);
    const install = async (...words: string[]) =>
      (await cliIn(cwd)(["skill", "--install", "--json", ...words], { env: { HOME: home } })).json<object>();
    const changes = (base: string, change: string) => ({
      files: PLACES.map((place) => ({ path: join(base, place), change })),
    });
    expect(await install()).toMatchObject(changes(cwd, "created"));
    expect(await install("--user")).toMatchObject(changes(home, "created"));
    for (const place of PLACES) expect(readFileSync(join(home, place), "utf8")).toBe(SKILL);
    expect(statSync(join(home, PLACES[0] ?? "")).mode & 0o022).toBe(0);
    expect(await install()).toMatchObject(changes(cwd, "unchanged"));
    for (const place of PLACES) writeFileSync(join(cwd, place), "---\nname: teams\n---\nOld.\n");
    expect(await install()).toMatchObject(changes(cwd, "updated"));
  });

  it("changes nothing if another skill has its name", async () => {
    const cwd = temporaryDirectory();
    const other = join(cwd, PLACES[1] ?? "");
    mkdirSync(dirname(other), { recursive: true });
    writeFileSync(other, "My own.");
    const ended = await cliIn(cwd)(["skill", "--install", "--json"]);
    expect([ended.code, ended.error()]).toEqual([
      2,
      expect.objectContaining({
        code: "INVALID_INPUT",
        message: `${other} is not the skill of teams; nothing was changed.`,
      }),
    ]);
    expect(readFileSync(other, "utf8")).toBe("My own.");
    expect(() => statSync(join(cwd, PLACES[0] ?? ""))).toThrow("ENOENT");
  });

  it("is not installed by an agent, and --user needs --install", async () => {
    const cwd = temporaryDirectory();
    const env = { TEAMS_AGENT: "ada" };
    const refused = await cliIn(cwd)(["skill", "--install", "--json"], { env });
    expect([refused.code, refused.error().code]).toEqual([1, "PERMISSION_DENIED"]);
    expect((await cliIn(cwd)(["skill", "--user", "--json"])).code).toBe(2);
  });
});
