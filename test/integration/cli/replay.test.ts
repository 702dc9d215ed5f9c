import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { cliIn } from "../../support/processes/in-process-cli.ts";

const HEADER = { version: 2, width: 80, height: 24, timestamp: 1_700_000_000, title: "ada@crew" };

/** Writes a recording of one second. */
function writeCast(path: string, header: object): void {
  const lines = [header, [1, "o", "hello"]].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(path, lines.join(""));
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
    const place = join("teams-casts", "0f8c3a52-0000-4000-8000-000000000001");
    const casts = join(teams.root, place);
    mkdirSync(casts, { recursive: true });
    writeCast(join(casts, "ada.cast"), HEADER);
    const ended = {
      ...{ team: "crew", createdAt: 1, endedAt: 2, cwd: "/", leadSessionId: basename(place), sessions: [] },
      casts: [join("/nowhere", place)],
    };
    writeFileSync(join(teams.root, "teams-ended.json"), JSON.stringify({ teams: [ended] }));
    const listed = await teams(["replay", "ada", "--team", "crew", "--json"]);
    expect(listed.json()).toMatchObject({ recordings: [{ path: expect.stringContaining(place) }] });
  });
});
