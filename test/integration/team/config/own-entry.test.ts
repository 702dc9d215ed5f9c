import { rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ownEntry } from "../../../../src/team/config/own-entry.ts";
import { patchMember } from "../../../../src/team/members/members.ts";
import { testTeam } from "../../../support/team/test-team.ts";

test("ownEntry › finds a member in any case, and returns the config's spelling", async () => {
  const ref = await testTeam(["Rév"]);
  expect(ownEntry(ref, "re\u0301v")).toEqual({ name: "Rév", session: undefined });
});

test("ownEntry › returns the session of a member, unless it cannot be the name of a file", async () => {
  const ref = await testTeam(["rev"]);
  await patchMember(ref, "rev", { metadata: { _session: "its-conversation" } });
  expect(ownEntry(ref, "rev")?.session).toBe("its-conversation");
  for (const session of ["../secret", "", 7, null]) {
    await patchMember(ref, "rev", { metadata: { _session: session } });
    expect(ownEntry(ref, "rev")).toEqual({ name: "rev", session: undefined });
  }
});

test("ownEntry › returns undefined for a config that a quick scan cannot read", async () => {
  const ref = await testTeam(["rev"]);
  expect(ownEntry(ref, "nobody")).toBeUndefined();
  for (const text of [
    "",
    "{",
    "null",
    '"rev"',
    '{"members":"rev"}',
    '{"members":[null,7,{"name":["rev"]}]}',
  ]) {
    writeFileSync(ref.paths.config, text);
    expect(ownEntry(ref, "rev"), text).toBeUndefined();
  }
  rmSync(ref.paths.config);
  expect(ownEntry(ref, "rev")).toBeUndefined();
});
