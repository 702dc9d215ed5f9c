import { expect, test } from "vitest";
import { withAbsoluteRoot } from "../../../../src/os/files/app-directories.ts";

test("withAbsoluteRoot › makes each relative directory absolute, and reads the current directory only then", () => {
  const env = { TEAMS_HOME: "/root", CLAUDE_CONFIG_DIR: "", HOME: "mine" };
  expect(withAbsoluteRoot(env, () => "/here")).toEqual({ ...env, HOME: "/here/mine" });
  const absolute = { ...env, HOME: "/home/me" };
  expect(withAbsoluteRoot(absolute, () => expect.fail("the current directory was read"))).toEqual(absolute);
});
