import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { agentFileName, planPath, runtimeOfRoot, teamPaths } from "../../../src/protocol/paths.ts";
import { teamDir } from "../../../src/schema/names.ts";

const paths = teamPaths("/base", "/run/x", teamDir("crew"));

test("teamPaths follows the layout that other programs read", () => {
  expect(paths.config).toBe("/base/teams/crew/config.json");
  expect(paths.inbox("team-lead")).toBe("/base/teams/crew/inboxes/team-lead.json");
  expect(paths.task("12")).toBe("/base/tasks/crew/12.json");
  expect(paths.agent("rev").bell).toBe("/run/x/crew/rev/bell");
});

test("agentFileName keeps plain names and percent-encodes other names (S30)", () => {
  expect(agentFileName("rev-2_a")).toBe("rev-2_a");
  expect(agentFileName("a.b %")).toBe("a%2Eb%20%25");
  expect(agentFileName("検")).toBe("%E6%A4%9C");
});

test("agentFileName does not map an empty name, which a foreign config may contain, to the parent directory", () => {
  expect(agentFileName("")).toBe("%");
  expect(paths.agent("").runtime).toBe("/run/x/crew/%");
});

test("teamPaths keeps the inbox of any name inside the inbox directory (S44)", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1 }), (name) => {
      const path = paths.inbox(name);
      expect(dirname(path)).toBe(paths.inboxes);
      expect(join(path)).toBe(path);
      expect(Buffer.byteLength(`${basename(path)}.lock.owner`)).toBeLessThanOrEqual(255);
    }),
  );
});

test("agentFileName gives different names different files", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 16 });
  fc.assert(
    fc.property(name, name, (a, b) => {
      expect(agentFileName(a) === agentFileName(b)).toBe(a === b);
    }),
  );
});

test("agentFileName gives long names with the same beginning different files", () => {
  const long = "検".repeat(63);
  expect(agentFileName(`${long}a`)).not.toBe(agentFileName(`${long}b`));
});

test.each([["0"], ["-1"], ["1.5"], ["../1"], [""], ["1".repeat(16)], ["01"]])(
  "teamPaths maps the invalid task id %j to task 0",
  (id) => {
    expect(paths.task(id)).toBe("/base/tasks/crew/0.json");
  },
);

test("planPath gives every agent its own plan, even if names and teams contain dashes (S55)", () => {
  const plan = (team: string, agent: string): string => planPath("/base", teamDir(team), agent);
  const all = [
    plan("a", "b-c"),
    plan("a-b", "c"),
    plan("a", "b_c"),
    plan("a-b-c", "team-lead"),
    plan("a", "old"),
  ];
  expect(new Set(all).size).toBe(all.length);
});

test("runtimeOfRoot gives two roots different runtime directories", () => {
  expect(runtimeOfRoot("/run", "/home/a")).not.toBe(runtimeOfRoot("/run", "/home/b"));
});
