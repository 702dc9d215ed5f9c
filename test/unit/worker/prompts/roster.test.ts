import { expect, test } from "vitest";
import { TeamRoster } from "../../../../src/worker/prompts/roster.ts";

test("TeamRoster keeps its names for a conversation and reports each change once", () => {
  let now = ["team-lead", "ada"];
  const roster = new TeamRoster(() => now);
  expect(roster.takeChanges()).toBeUndefined();
  expect(roster.names).toEqual(["team-lead", "ada"]);
  expect(roster.takeChanges()).toBeUndefined();
  now = ["team-lead", "ben", "cy"];
  expect(roster.takeChanges()).toBe(
    "[The team has changed: ben, cy joined; ada left. Other members now: team-lead, ben, cy.]",
  );
  expect(roster.takeChanges()).toBeUndefined();
  expect(roster.names).toEqual(["team-lead", "ada"]);
  now = [];
  expect(roster.takeChanges()).toContain("Other members now: none.");
});

test("TeamRoster takes the current names when a new conversation begins, without a report", () => {
  let now = ["ada"];
  const roster = new TeamRoster(() => now);
  expect(roster.names).toEqual(["ada"]);
  now = ["ben"];
  roster.reset();
  expect(roster.takeChanges()).toBeUndefined();
  expect(roster.names).toEqual(["ben"]);
  expect(roster.takeChanges()).toBeUndefined();
});
