import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { readTeam } from "../../../../src/team/config/config.ts";
import { hasKillClaim, withKillClaim } from "../../../../src/team/members/kill-claims.ts";
import { testTeam } from "../../../support/team/test-team.ts";

test("kill claim › marks only the named members, and only during the kill", async () => {
  const ref = await testTeam(["dev", "ada"]);
  const killed = () => readTeam(ref).members.flatMap((one) => (hasKillClaim(one) ? [one.name] : []));
  expect(await withKillClaim(ref, ["dev"], async () => killed())).toEqual(["dev"]);
  expect(killed()).toEqual([]);
  await expect(withKillClaim(ref, ["dev"], () => Promise.reject(new Error("left")))).rejects.toThrow("left");
  expect(killed()).toEqual([]);
});

test("kill claim › does not stop a kill if it cannot be written", async () => {
  const ref = await testTeam(["dev"]);
  const deleted = async () => rmSync(ref.paths.dir, { recursive: true });
  await expect(
    withKillClaim(ref, ["dev"], async () => {
      await deleted();
      return "killed";
    }),
  ).resolves.toBe("killed");
  await expect(withKillClaim(ref, ["dev"], async () => "killed")).resolves.toBe("killed");
});
