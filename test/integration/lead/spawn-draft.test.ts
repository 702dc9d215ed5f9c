import { expect, test } from "vitest";
import { startOf } from "../../../src/lead/spawn-draft.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readTeam } from "../../../src/team/config.ts";
import { writeStatus } from "../../../src/team/records.ts";
import { statusOf } from "../../support/records.ts";
import { testTeam } from "../../support/team.ts";
import { contextOf } from "../../support/worker.ts";

test("an end rings the bell that the lead says is its own, wherever the spawner would look for it", async () => {
  const ref = await testTeam(["dev"]);
  const config = readTeam(ref);
  const [, dev] = config.members;
  if (dev === undefined) throw new Error("There is no dev.");
  const bells = () => startOf(contextOf(ref), config, dev, { name: "dev" }, undefined).request.bells;
  expect(bells()).toEqual([ref.paths.agent(LEAD_NAME).bell]);
  writeStatus(ref, LEAD_NAME, statusOf({ bell: "/run/elsewhere/bell" }));
  expect(bells()).toEqual(["/run/elsewhere/bell"]);
});

test("whoever works in a worktree is told of no other repository by the caller's environment", async () => {
  const ref = await testTeam(["dev"]);
  const config = readTeam(ref);
  const [, dev] = config.members;
  if (dev === undefined) throw new Error("There is no dev.");
  const ctx = contextOf(ref, undefined, { env: { GIT_DIR: "/else/.git", GIT_EDITOR: "ed" } });
  const envOf = (member: typeof dev) => startOf(ctx, config, member, { name: "dev" }, undefined).request.env;
  expect(envOf(dev)).toMatchObject({ GIT_DIR: "/else/.git", GIT_EDITOR: "ed" });
  expect(envOf({ ...dev, worktreePath: "/w" })).not.toHaveProperty("GIT_DIR");
  expect(envOf({ ...dev, worktreePath: "/w" })).toMatchObject({ GIT_EDITOR: "ed" });
});
