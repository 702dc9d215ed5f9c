import { expect, test } from "vitest";
import { withAbsoluteRoot } from "../../../../src/os/files/app-directories.ts";

test("withAbsoluteRoot › makes each relative directory absolute, and asks for the current one only then", () => {
  const env = { TEAMS_HOME: "/root", CLAUDE_CONFIG_DIR: "", HOME: "mine" };
  expect(withAbsoluteRoot(env, () => "/here")).toEqual({ ...env, HOME: "/here/mine" });
  const absolute = { ...env, HOME: "/home/me" };
  expect(withAbsoluteRoot(absolute, () => expect.fail("It was asked."))).toEqual(absolute);
});
