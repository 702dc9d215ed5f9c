import { expect, test } from "vitest";
import { resolveChoice } from "../../../../src/team/requests/answers.ts";

test.each([
  [["80", "8080"], "2", "8080"],
  [["80", "8080"], " 1 ", "80"],
  [["80", "8080"], "80", "80"],
  [["80", "8080"], "3", "3"],
  [["80", "8080"], "0", "0"],
  [["2", "1"], "1", "1"],
  [["80", "8080"], "the second", "the second"],
  [[], "1", "1"],
] as const)("resolveChoice › of the choices %j, the answer %j means %j", (choices, said, meant) => {
  expect(resolveChoice(choices, said)).toBe(meant);
});
