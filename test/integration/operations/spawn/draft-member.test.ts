import { expect, test } from "vitest";
import { draftMember } from "../../../../src/operations/spawn/draft-member.ts";
import { buildStart } from "../../../../src/operations/spawn/start-steps.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { PermissionMode } from "../../../../src/schema/permission-modes.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { setMode } from "../../../../src/team/members/permission-mode.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { statusOf } from "../../../support/records.ts";
import { testTeam } from "../../../support/team.ts";
import { contextOf } from "../../../support/worker.ts";

test("an end rings the bell that the lead says is its own, wherever the spawner would look for it", async () => {
  const ref = await testTeam(["dev"]);
  const config = readTeam(ref);
  const [, dev] = config.members;
  if (dev === undefined) throw new Error("There is no dev.");
  const bells = () => buildStart(contextOf(ref), config, dev, { name: "dev" }, undefined).request.bells;
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
  const envOf = (member: typeof dev) =>
    buildStart(ctx, config, member, { name: "dev" }, undefined).request.env;
  expect(envOf(dev)).toMatchObject({ GIT_DIR: "/else/.git", GIT_EDITOR: "ed" });
  expect(envOf({ ...dev, worktreePath: "/w" })).not.toHaveProperty("GIT_DIR");
  expect(envOf({ ...dev, worktreePath: "/w" })).toMatchObject({ GIT_EDITOR: "ed" });
});

test.each<[string, readonly PermissionMode[], PermissionMode]>([
  ["the lead's", ["acceptEdits"], "acceptEdits"],
  ["default where the lead has none", [], "default"],
  [
    "the one that the lead had before it only coordinated",
    ["acceptEdits", "delegate", "delegate"],
    "acceptEdits",
  ],
  ["default where the lead never did anything else", ["delegate"], "default"],
  ["the lead's of now", ["acceptEdits", "delegate", "plan"], "plan"],
])("a teammate's mode is %s", async (_, given, expected) => {
  const ref = await testTeam();
  for (const mode of given) await setMode(ref, LEAD_NAME, mode);
  expect(draftMember(contextOf(ref), readTeam(ref), { name: "dev" }).mode).toBe(expected);
});

test.each([{ disallowedTools: ["Bash(touch:*"] }, { allowedTools: ["Read", "(x)"] }])(
  "what is no rule is refused, and nobody started: %j",
  async (given) => {
    const ref = await testTeam();
    expect(() => draftMember(contextOf(ref), readTeam(ref), { name: "dev", ...given })).toThrow(
      "is not a rule",
    );
  },
);

test("bypassPermissions is neither given nor inherited where it is forbidden, and says by what", async () => {
  const ref = await testTeam();
  await setMode(ref, LEAD_NAME, "bypassPermissions");
  const draft = (mode: PermissionMode | undefined, forbidden?: string) =>
    draftMember(
      contextOf(ref),
      readTeam(ref),
      { name: "dev", ...(mode && { permissionMode: mode }) },
      { bypassForbidden: forbidden },
    ).mode;
  expect([draft(undefined), draft("bypassPermissions")]).toEqual(["bypassPermissions", "bypassPermissions"]);
  expect([draft(undefined, "a setting"), draft("acceptEdits", "a setting")]).toEqual([
    "default",
    "acceptEdits",
  ]);
  expect(() => draft("bypassPermissions", "a setting")).toThrow(
    /forbidden by a setting; dev was not started/,
  );
});
