import { writeFileSync } from "node:fs";
import { join } from "node:path";
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
});
