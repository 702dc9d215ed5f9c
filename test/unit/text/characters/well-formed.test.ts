import { expect, test } from "vitest";
import { wellFormed } from "../../../../src/text/characters/well-formed.ts";

test("wellFormed › returns a well-formed value itself", () => {
  const value = { a: ["😀", 1, null, { b: undefined }] };
  expect(wellFormed(value)).toBe(value);
});

test("wellFormed › replaces lone surrogates in texts, lists, objects and keys", () => {
  const value = { "k\ud83d": ["a\ude00", { b: "\ud83d\ude00\ud83d" }], same: ["x"] };
  expect(wellFormed(value)).toEqual({ "k\ufffd": ["a\ufffd", { b: "😀\ufffd" }], same: ["x"] });
  expect(wellFormed(value).same).toBe(value.same);
  expect(wellFormed("\ud83d")).toBe("\ufffd");
});

test("wellFormed › keeps a key that has the name of an inherited property", () => {
  const value = JSON.parse('{"__proto__":"\\ud83d"}') as object;
  expect(JSON.stringify(wellFormed(value))).toBe('{"__proto__":"\ufffd"}');
});
