import { describe, expect, test } from "vitest";
import { readTypedAnswer } from "../../../../src/worker/gates/typed-answer.ts";

describe("readTypedAnswer: a line typed during a permission request (S61)", () => {
  test.each([
    ["y", "yes", ""],
    [" Y ", "yes", ""],
    ["yes!", "yes", ""],
    ["y, only this once", "yes", "only this once"],
    ["yes but only once", "yes", "but only once"],
    ["n", "no", ""],
    ["n: not here", "no", "not here"],
    ["No, use npm", "no", "use npm"],
    ["no need for that", "no", "need for that"],
    ["a", "always", ""],
    ["always", "always", ""],
    ["a; it is harmless", "always", "it is harmless"],
  ] as const)("reads %j as the answer %s", (line, verdict, note) => {
    expect(readTypedAnswer(line)).toEqual({ verdict, note });
  });

  test.each([
    "a different command would be better",
    "a.b",
    "always ask me first",
    "y not use npm?",
    "n people use it",
    "nothing of that",
    "yesterday it worked",
    "and then?",
    "a/b",
    "",
  ])("does not take %j as an answer", (line) => {
    expect(readTypedAnswer(line)).toBeUndefined();
  });
});
