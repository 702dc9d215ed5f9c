import { expect, test } from "vitest";
import {
  agentName,
  freeName,
  isTeamDir,
  newAgentName,
  sameName,
  sameTeamName,
  splitAddress,
  teamDir,
} from "../../../src/schema/names.ts";

test.each([
  ["audit", "audit"],
  ["My Team", "my-team"],
  ["a.b:c/../d", "a-b-c----d"],
  ["検査 1", "---1"],
  ["café", "caf-"],
  ["cafe\u0301", "caf-"],
])("teamDir: team %j has the directory %j", (name, directory) => {
  expect(teamDir(name)).toBe(directory);
});

test.each([[""], ["..."], ["検査"], ["a".repeat(65)], ["../.."]])("teamDir rejects the name %j", (name) => {
  expect(() => teamDir(name)).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
});

test.each([
  ["my-team", true],
  ["SnakeGame", true],
  ["snake_game", true],
  ["検査", true],
  ["---", false],
  [".hidden", false],
  ["crew.deleted-0b0d", false],
  ["a b", false],
  ["#{pane_id}", false],
  ["re\u200Bv", false],
  ["x".repeat(65), false],
])("isTeamDir: a directory %j can be a team's: %j", (name, expected) => {
  expect(isTeamDir(name)).toBe(expected);
});

test.each([
  ["SnakeGame", "snakegame", true],
  ["Snake Game", "snake_game", true],
  ["Größe", "größe", true],
  ["Größe", "Grüße", false],
  ["検査 1", "監査 1", false],
])("sameTeamName: %j and %j are alike: %j", (one, other, expected) => {
  expect(sameTeamName(one, other)).toBe(expected);
});

test.each([["a.b"], ["a:b"], ["a b"], ["100%"], ["a=b"], ["-rf"], ['say "hi"'], ["検査"], ["🦊"], ["../x"]])(
  "agentName accepts %j (S30)",
  (name) => {
    expect(agentName(name)).toBe(name);
  },
);

test.each([[""], ["  "], ["a@b"], ["a\nb"], ["a\u0000"], ["a\u2028b"], ["\ud800"], ["x".repeat(65)]])(
  "agentName rejects %j",
  (name) => {
    expect(() => agentName(name)).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
  },
);

test.each([
  ["a zero-width space", "re\u200Bv"],
  ["a joiner between letters", "re\u200Dv"],
  ["a joiner after an emoji", "🦊\u200D"],
  ["a mark that changes the writing direction", "ver\u202Efdp"],
  ["an isolate", "\u2066rev"],
  ["a soft hyphen", "re\u00ADv"],
  ["a byte order mark", "\uFEFFrev"],
  ["an invisible letter", "\u3164"],
  ["a variation selector", "rev\uFE0F"],
  ["a tag character", "rev\u{E0041}"],
])("agentName rejects a name with %s and shows it escaped", (_what, name) => {
  const refused = () => agentName(name);
  expect(refused).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
  expect(refused).toThrow(/\\u\{[0-9a-f]+\}.* has invisible characters/);
  expect(refused).not.toThrow(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
});

test.each([["👩‍💻"], ["👍🏽"], ["❤️"], ["1️⃣"], ["🏳️‍🌈 team"], ["👨‍👩‍👧‍👦"]])(
  "agentName accepts the joined emoji %j",
  (name) => {
    expect(agentName(name)).toBe(name);
  },
);

test("agentName counts an emoji as one character", () => {
  expect(agentName("🦊".repeat(64))).toHaveLength(128);
});

test.each([["team-lead"], ["Team-Lead"], ["SYSTEM"], ["user"]])(
  "newAgentName rejects the reserved name %j",
  (name) => {
    expect(() => newAgentName(name)).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
  },
);

test("sameName ignores case and Unicode composition", () => {
  expect(sameName("Émile", "e\u0301mile".normalize("NFD"))).toBe(true);
  expect(sameName("writer", "writer-2")).toBe(false);
});

test("freeName adds the lowest free number and ignores case", () => {
  expect(freeName("Rev", ["rev", "REV-2", "rev-4"])).toBe("Rev-3");
  expect(freeName("new", ["rev"])).toBe("new");
});

test("freeName shortens a long name to fit its number, and the result is a valid name", () => {
  const long = "a".repeat(64);
  expect(freeName(long, [long])).toBe(`${"a".repeat(62)}-2`);
  const couples = `${"👩‍💻".repeat(21)}x`;
  expect(agentName(freeName(couples, [couples]))).toBe(`${"👩‍💻".repeat(20)}-2`);
  expect(freeName("a".repeat(63), [])).toHaveLength(63);
});

test("splitAddress splits an address into name and optional team", () => {
  expect(splitAddress("rev")).toEqual({ name: "rev" });
  expect(splitAddress("rev@crew")).toEqual({ name: "rev", team: "crew" });
});
