import { rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { spelledName } from "../../../../src/team/config/member-spelling.ts";
import { testTeam } from "../../../support/team/test-team.ts";

test("a member's name is found in whatever case, as the team's file spells it", async () => {
  const ref = await testTeam(["Rév"]);
  expect(spelledName(ref, "re\u0301v")).toBe("Rév");
});

test("whatever a glance does not tell is left to the whole reading", async () => {
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
