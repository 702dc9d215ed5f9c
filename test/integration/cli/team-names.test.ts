import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";

const PEER = fileURLToPath(new URL("../../fixtures/peers/2.1.329/team/", import.meta.url));

describe("a team of another program whose directory is not in lower case", () => {
  it.each([
    ["SnakeGame", ["SnakeGame", "snakegame", "SNAKEGAME"]],
    ["snake_game", ["snake_game", "snake-game", "Snake Game"]],
    ["Größe2", ["Größe2", "größe2"]],
    ["команда", ["команда", "Команда"]],
  ])("%s › is listed, and found by its name and by equivalent names", async (directory, names) => {
    const teams = cliIn();
    foreignTeam(teams, directory);
    const listed = (await teams(["ls", "--json"])).json<{ teams: { name: string }[] }>();
    expect(listed.teams.map(({ name }) => name)).toEqual([directory]);
    for (const name of names) {
      const status = await teams(["status", name, "--json"]);
      expect([name, status.err, status.code]).toEqual([name, "", 0]);
      expect(status.json<{ members: { name: string }[] }>().members.map((one) => one.name)).toContain(
        "alpha",
      );
      expect((await teams(["send", `alpha@${name}`, `to ${name}`])).code).toBe(0);
    }
    const inbox = join(teams.root, "teams", directory, "inboxes", "alpha.json");
    for (const name of names) expect(readFileSync(inbox, "utf8")).toContain(`to ${name}`);
    const { checks } = (await teams(["doctor", "--json"])).json<{
      checks: { name: string; text: string }[];
    }>();
    expect(checks.find(({ name }) => name === "other teams")?.text).toContain(directory);
    const one = (await teams(["doctor", directory, "--json"])).json<{ checks: { text: string }[] }>();
    expect(one.checks.map(({ text }) => text)).not.toContainEqual(
      expect.stringContaining("has the name of another team"),
    );
  });

  it("stops teams from creating a team with an equivalent name", async () => {
    const teams = cliIn();
    foreignTeam(teams, "SnakeGame");
    const refused = await teams(["create", "snakegame", "--json"]);
    expect([refused.code, refused.error()]).toMatchObject([
      4,
      { code: "TEAM_EXISTS", message: "Team SnakeGame already exists; nothing was changed." },
    ]);
    expect((await teams(["create", "snakegame", "--unique", "--json"])).json()).toMatchObject({
      team: "snakegame-2",
    });
  });

  it.skipIf(ignoresCase())("is found by its exact name if another team has an equivalent name", async () => {
    const teams = cliIn();
    foreignTeam(teams, "snakegame");
    foreignTeam(teams, "SnakeGame");
    for (const name of ["snakegame", "SnakeGame"])
      expect((await teams(["status", name, "--json"])).json()).toMatchObject({ team: name });
    expect((await teams(["delete", "SnakeGame", "--force"])).code).toBe(0);
    const left = (await teams(["ls", "--json"])).json<{ teams: { name: string }[] }>();
    expect(left.teams.map(({ name }) => name)).toEqual(["snakegame"]);
  });

  it("is not listed once that program has marked it as deleted", async () => {
    const teams = cliIn();
    const directory = foreignTeam(teams, "SnakeGame");
    renameSync(directory, `${directory}.deleted-0b0d3a51-5cbb-4b2e-9df8-2b1d7c1f1a11`);
    expect((await teams(["ls", "--json"])).json()).toEqual({ teams: [] });
    const missing = await teams(["status", "SnakeGame", "--json"]);
    expect([missing.code, missing.error().hint]).toEqual([3, expect.not.stringContaining("Did you mean")]);
  });
});

/** Returns true if this disk ignores case in file names, as on most Macs. */
function ignoresCase(): boolean {
  return existsSync(PEER.toUpperCase());
}

/** Copies the files of a real peer's team to a directory of this name. */
function foreignTeam(teams: Cli, name: string): string {
  const directory = join(teams.root, "teams", name);
  mkdirSync(join(teams.root, "teams"), { recursive: true });
  cpSync(PEER, directory, { recursive: true });
  const path = join(directory, "config.json");
  const text = readFileSync(path, "utf8").replaceAll("session-849c65b5", name);
  writeFileSync(path, text);
  return directory;
}
