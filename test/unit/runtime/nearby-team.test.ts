import { expect, test } from "vitest";
import { nearbyTeam } from "../../../src/runtime/nearby-team.ts";
import type { TeamEntry } from "../../../src/team/config/config.ts";

const team = (name: string, members: Readonly<Record<string, string>>): TeamEntry =>
  ({
    team: name,
    ours: true,
    config: { members: Object.entries(members).map(([member, cwd]) => ({ name: member, cwd })) },
  }) as unknown as TeamEntry;

const TEAMS = [
  team("one", { "team-lead": "/srv/app", ada: "/srv/app" }),
  team("two", { "team-lead": "/srv", ben: "/srv/docs" }),
  team("three", { "team-lead": "/other", ada: "/other" }),
];

test.each([
  ["ben", "/nowhere", "two"],
  ["BEN", undefined, "two"],
  ["ada", "/other/src", "three"],
  ["ada", "/nowhere", undefined],
  ["nobody", "/srv/app/src", "one"],
  [undefined, "/srv/app", "one"],
  [undefined, "/srv/application", "two"],
  [undefined, "/srv/docs/x", "two"],
  [undefined, "/", undefined],
  [undefined, "relative", undefined],
  [undefined, undefined, undefined],
])("nearbyTeam › for the member %s in the directory %s, returns the team %s", (agent, PWD, expected) => {
  const found = nearbyTeam(TEAMS, { PWD }, { name: agent });
  expect("team" in found ? found.team.team : undefined).toBe(expected);
});

test("nearbyTeam › returns the candidates if two teams work in one directory", () => {
  const twins = [team("a", { x: "/srv" }), team("b", { y: "/srv" })];
  expect(nearbyTeam(twins, { PWD: "/srv" }, {})).toEqual({ among: twins });
});

test("nearbyTeam › returns the candidates if several teams have a member of this name", () => {
  const found = nearbyTeam(TEAMS, {}, { name: "team-lead" });
  expect("among" in found && found.among.map(({ team: name }) => name)).toEqual(["one", "two", "three"]);
});

test("nearbyTeam › finds the only team with a request of this name, unless a member has that name", () => {
  const isIn = ({ team: name }: TeamEntry): boolean => name === "three";
  expect(nearbyTeam(TEAMS, {}, { name: "perm-1", isIn })).toEqual({ team: TEAMS[2] });
  expect(nearbyTeam(TEAMS, {}, { name: "ben", isIn })).toEqual({ team: TEAMS[1] });
});
