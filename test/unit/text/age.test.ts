import { expect, test } from "vitest";
import { shortAge } from "../../../src/text/age.ts";
import { homePath } from "../../../src/text/home-path.ts";

test.each([
  [-5, "0 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [3_599_999, "59 min"],
  [3_600_000, "1 h"],
  [86_400_000, "1 d"],
  [86_400_000 * 400, "400 d"],
])("shortAge › shows %d ms as %s", (ms, expected) => {
  expect(shortAge(ms)).toBe(expected);
});

test.each([
  ["/home/u/src", "/home/u", "~/src"],
  ["/home/u", "/home/u", "~"],
  ["/home/user2", "/home/u", "/home/user2"],
  ["/srv", undefined, "/srv"],
  ["/srv", "/", "/srv"],
])("homePath › shows %s with the home %s as %s", (path, home, expected) => {
  expect(homePath(path, home)).toBe(expected);
});
