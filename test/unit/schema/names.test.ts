import { expect, test } from "vitest";
import {
  agentName,
  freeName,
  newAgentName,
  sameName,
  splitAddress,
  teamDir,
} from "../../../src/schema/names.ts";

test.each([
  ["audit", "audit"],
  ["My Team", "my-team"],
  ["a.b:c/../d", "a-b-c----d"],
  ["検査 1", "---1"],
])("the directory of team %j is %j", (name, directory) => {
  expect(teamDir(name)).toBe(directory);
});

test.each([[""], ["..."], ["検査"], ["a".repeat(65)], ["../.."]])("%j is no team's name", (name) => {
  expect(() => teamDir(name)).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
});

test.each([["a.b"], ["a:b"], ["a b"], ["100%"], ["a=b"], ["-rf"], ['say "hi"'], ["検査"], ["🦊"], ["../x"]])(
  "%j may be a member's name (S30)",
  (name) => {
    expect(agentName(name)).toBe(name);
  },
);

test.each([[""], ["  "], ["a@b"], ["a\nb"], ["a\u0000"], ["a\u2028b"], ["\ud800"], ["x".repeat(65)]])(
  "%j may not",
  (name) => {
    expect(() => agentName(name)).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
  },
);

test.each([
  ["a zero-width space", "re\u200Bv"],
  ["a joiner between letters", "re\u200Dv"],
  ["a joiner behind a picture", "🦊\u200D"],
  ["a mark that turns text around", "ver\u202Efdp"],
  ["an isolate", "\u2066rev"],
  ["a soft hyphen", "re\u00ADv"],
  ["a byte order mark", "\uFEFFrev"],
  ["a letter without a shape", "\u3164"],
  ["a variation selector", "rev\uFE0F"],
  ["a tag character", "rev\u{E0041}"],
])("a member's name has not %s, and the refusal shows it", (_what, name) => {
  const refused = () => agentName(name);
  expect(refused).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
  expect(refused).toThrow(/\\u\{[0-9a-f]+\}.* has invisible characters/);
  expect(refused).not.toThrow(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
});

test.each([["👩‍💻"], ["👍🏽"], ["❤️"], ["1️⃣"], ["🏳️‍🌈 team"], ["👨‍👩‍👧‍👦"]])(
  "%j may, though its parts are joined",
  (name) => {
    expect(agentName(name)).toBe(name);
  },
);

test("64 emoji are 64 characters", () => {
  expect(agentName("🦊".repeat(64))).toHaveLength(128);
});

test.each([["team-lead"], ["Team-Lead"], ["SYSTEM"], ["user"]])("%j is reserved", (name) => {
  expect(() => newAgentName(name)).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
});

test("names are one whatever their case and composition", () => {
  expect(sameName("Émile", "e\u0301mile".normalize("NFD"))).toBe(true);
  expect(sameName("writer", "writer-2")).toBe(false);
});

test("the next free name has the lowest number, and case does not make a name free", () => {
  expect(freeName("Rev", ["rev", "REV-2", "rev-4"])).toBe("Rev-3");
  expect(freeName("new", ["rev"])).toBe("new");
});

test("a long name is cut for its number, and stays a name", () => {
  const long = "a".repeat(64);
  expect(freeName(long, [long])).toBe(`${"a".repeat(62)}-2`);
  const couples = `${"👩‍💻".repeat(21)}x`;
  expect(agentName(freeName(couples, [couples]))).toBe(`${"👩‍💻".repeat(20)}-2`);
  expect(freeName("a".repeat(63), [])).toHaveLength(63);
});

test("an address is a name, or a name and its team", () => {
  expect(splitAddress("rev")).toEqual({ name: "rev" });
  expect(splitAddress("rev@crew")).toEqual({ name: "rev", team: "crew" });
});
