import { expect, it } from "vitest";
import { memberWord, teamOption } from "../../../src/team/address-words.ts";
import { createTeamFiles } from "../../../src/team/config/create-files.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { type TeamRef, teamsHome } from "../../../src/team/ref.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

it("memberWord › names the team only if a command without it would find no team, or another", async () => {
  const directory = temporaryDirectory();
  const env = { HOME: directory, TEAMS_HOME: directory, XDG_RUNTIME_DIR: directory };
  const team = async (name: string, members: readonly string[]): Promise<TeamRef> => {
    const ref = await createTeamFiles(teamsHome(env), { name, leadSessionId: "s", leadCwd: "/", now: 1 });
    await addMembers(
      ref,
      members.map((member) => ({ name: member, cwd: "/" })),
    );
    return ref;
  };
  const one = await team("one", ["ada", "cy"]);
  expect([memberWord(one, "ada"), teamOption(one, env)]).toEqual(["ada", ""]);
  expect(memberWord(one, "ada", { TEAMS_TEAM: "gone" })).toBe("ada");
  const two = await team("two", ["ben", "CY"]);
  expect([memberWord(one, "ada"), memberWord(two, "ben")]).toEqual(["ada", "ben"]);
  expect([memberWord(one, "cy"), memberWord(two, "CY")]).toEqual(["cy@one", "CY@two"]);
  expect(memberWord(one, "-x y")).toBe("-- '-x y'");
  // The variable selects another team, or this one.
  expect(memberWord(two, "ben", { TEAMS_TEAM: "one" })).toBe("ben@two");
  expect(memberWord(two, "ben", { TEAMS_TEAM: "two" })).toBe("ben");
  expect([teamOption(two, {}), teamOption(two, { TEAMS_TEAM: "one" })]).toEqual([
    " --team two",
    " --team two",
  ]);
  expect(teamOption(two, { TEAMS_TEAM: "two" })).toBe("");
  // The shell of an agent selects only its own team.
  expect(memberWord(two, "CY", { TEAMS_AGENT: "ben@two" })).toBe("CY");
  expect(teamOption(two, { TEAMS_AGENT: "ben@two" })).toBe("");
});
