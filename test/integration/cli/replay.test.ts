import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";

const HEADER = { version: 2, width: 80, height: 24, timestamp: 1_700_000_000, title: "ada@crew" };

/** Writes a recording of one second. */
function writeCast(path: string, header: object): void {
  const lines = [header, [1, "o", "hello"]].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(path, lines.join(""));
}

/** Lists an ended team with recordings. @returns their directory */
function endedTeam(teams: Cli): string {
  const place = join("teams-casts", "0f8c3a52-0000-4000-8000-000000000001");
  const casts = join(teams.root, place);
  mkdirSync(casts, { recursive: true });
  const ended = {
    ...{ team: "crew", createdAt: 1, endedAt: 2, cwd: "/", leadSessionId: basename(place), sessions: [] },
    casts: [join("/nowhere", place)],
  };
  writeFileSync(join(teams.root, "teams-ended.json"), JSON.stringify({ teams: [ended] }));
  return casts;
}

describe("teams replay --json", () => {
  it("lists a recording that names a time outside the calendar", async () => {
    const teams = cliIn();
    const path = join(teams.directory, "far.cast");
    writeCast(path, { ...HEADER, timestamp: 1e300 });
    const { recordings } = (await teams(["replay", path, "--json"])).json<{ recordings: object[] }>();
    expect(recordings).toMatchObject([{ path, startedAt: null, lengthSeconds: 1 }]);
  });

  it("finds the recordings of an ended team in a home that was moved", async () => {
    const teams = cliIn();
    const casts = endedTeam(teams);
    writeCast(join(casts, "ada.cast"), HEADER);
    const listed = await teams(["replay", "ada", "--team", "crew", "--json"]);
    const path = expect.stringContaining(join(basename(casts), "ada.cast"));
    expect(listed.json()).toMatchObject({ recordings: [{ path }] });
  });
});

describe("teams replay with a recording that cannot be played", () => {
  it("names it, and does not say that nothing is recorded", async () => {
    const teams = cliIn();
    writeFileSync(join(endedTeam(teams), "ada.cast"), "no header\n");
    const why = "ada.cast cannot be played";
    const refused = await teams(["replay", "ada", "--team", "crew", "--json"]);
    expect(refused.error()).toMatchObject({ code: "CORRUPT_FILE", message: expect.stringContaining(why) });
    const listed = await teams(["replay", "--team", "crew"]);
    expect(listed).toMatchObject({ code: 0, out: "No recording can be played.\n" });
    expect(listed.err).toContain(why);
  });

  it("notes it with the recordings of the agent that can be played", async () => {
    const teams = cliIn();
    const casts = endedTeam(teams);
    writeCast(join(casts, "ada.cast"), HEADER);
    writeFileSync(join(casts, "ada.2.cast"), "no header\n");
    const markers = await teams(["replay", "ada", "--team", "crew", "--markers"]);
    expect(markers).toMatchObject({ code: 0, out: "There are no markers.\n" });
    expect(markers.err).toContain("ada.2.cast cannot be played");
  });

  it("refuses a directory without advice to move it away", async () => {
    const teams = cliIn();
    const refused = await teams(["replay", `${teams.directory}/`, "--json"]);
    const message = `${teams.directory} is a directory.`;
    expect(refused.error()).toMatchObject({ code: "INVALID_INPUT", message });
  });
});
