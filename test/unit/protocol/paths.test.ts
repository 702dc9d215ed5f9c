import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { agentFileName, planPath, runtimeOfRoot, teamPaths } from "../../../src/protocol/paths.ts";
import { teamDir } from "../../../src/schema/names.ts";

const paths = teamPaths("/base", "/run/x", teamDir("crew"));

test("the files stand where peers look for them", () => {
  expect(paths.config).toBe("/base/teams/crew/config.json");
  expect(paths.inbox("team-lead")).toBe("/base/teams/crew/inboxes/team-lead.json");
  expect(paths.task("12")).toBe("/base/tasks/crew/12.json");
  expect(paths.agent("rev").bell).toBe("/run/x/crew/rev/bell");
});

test("a plain name is its own file name, any other is percent-encoded (S30)", () => {
  expect(agentFileName("rev-2_a")).toBe("rev-2_a");
  expect(agentFileName("a.b %")).toBe("a%2Eb%20%25");
  expect(agentFileName("検")).toBe("%E6%A4%9C");
});

test("the empty name, which a foreign config may hold, is not the directory of all", () => {
  expect(agentFileName("")).toBe("%");
  expect(paths.agent("").runtime).toBe("/run/x/crew/%");
});

test("no name leaves its directory, whatever is in it (S44)", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1 }), (name) => {
      const path = paths.inbox(name);
      expect(dirname(path)).toBe(paths.inboxes);
      expect(join(path)).toBe(path);
      expect(Buffer.byteLength(`${basename(path)}.lock.owner`)).toBeLessThanOrEqual(255);
    }),
  );
});

test("two names never share a file, and a file tells its name", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 16 });
  fc.assert(
    fc.property(name, name, (a, b) => {
      expect(agentFileName(a) === agentFileName(b)).toBe(a === b);
    }),
  );
});

test("long names of the same beginning have different files", () => {
  const long = "検".repeat(63);
  expect(agentFileName(`${long}a`)).not.toBe(agentFileName(`${long}b`));
});

test.each([["0"], ["-1"], ["1.5"], ["../1"], [""], ["1".repeat(16)], ["01"]])(
  "the id %j names no task",
  (id) => {
    expect(paths.task(id)).toBe("/base/tasks/crew/0.json");
  },
);

test("no two agents have one plan, whatever dashes their names and teams have (S55)", () => {
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

test("two roots never share a runtime directory", () => {
  expect(runtimeOfRoot("/run", "/home/a")).not.toBe(runtimeOfRoot("/run", "/home/b"));
});
