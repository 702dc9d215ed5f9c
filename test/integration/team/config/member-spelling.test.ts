import { rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { spelledName } from "../../../../src/team/config/member-spelling.ts";
import { testTeam } from "../../../support/team/test-team.ts";

test("spelledName › finds a member in any case, and returns the config's spelling", async () => {
  const ref = await testTeam(["Rév"]);
  expect(spelledName(ref, "re\u0301v")).toBe("Rév");
});

test("spelledName › returns undefined for a config that a quick scan cannot read", async () => {
  const ref = await testTeam(["rev"]);
  expect(spelledName(ref, "nobody")).toBeUndefined();
  for (const text of [
    "",
    "{",
    "null",
    '"rev"',
    '{"members":"rev"}',
    '{"members":[null,7,{"name":["rev"]}]}',
  ]) {
    writeFileSync(ref.paths.config, text);
    expect(spelledName(ref, "rev"), text).toBeUndefined();
  }
  rmSync(ref.paths.config);
  expect(spelledName(ref, "rev")).toBeUndefined();
});
