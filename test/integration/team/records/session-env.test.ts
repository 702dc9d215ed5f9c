import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSessionEnv, removeSessionEnv } from "../../../../src/team/records/session-env.ts";
import { testHome } from "../../../support/team/test-team.ts";

const OURS = "hook-0123456789ab.sh";

test("removeSessionEnv › removes a session's directory, and does nothing the second time", () => {
  const home = testHome();
  const directory = join(home.root, "session-env", "s");
  createSessionEnv(home, "s");
  createSessionEnv(home, "s");
  writeFileSync(join(directory, OURS), "export A='1'\n");
  writeFileSync(join(directory, `.${OURS}.123.abc1.tmp`), "");
  removeSessionEnv(home, "s");
  removeSessionEnv(home, "s");
  expect(readdirSync(join(home.root, "session-env"))).toEqual([]);
});

test("removeSessionEnv › removes a directory that a hook created in place of its file", () => {
  const home = testHome();
  createSessionEnv(home, "s");
  mkdirSync(join(home.root, "session-env", "s", OURS, "below"), { recursive: true });
  removeSessionEnv(home, "s");
  expect(readdirSync(join(home.root, "session-env"))).toEqual([]);
});

test("removeSessionEnv › keeps the files of Claude Code", () => {
  const home = testHome();
  const directory = join(home.root, "session-env", "s");
  createSessionEnv(home, "s");
  for (const name of [OURS, "sessionstart-hook-0.sh", "hook-x.sh"]) writeFileSync(join(directory, name), "");
  removeSessionEnv(home, "s");
  expect(readdirSync(directory)).toEqual(["hook-x.sh", "sessionstart-hook-0.sh"]);
});

test("removeSessionEnv › touches nothing outside session-env for an invalid id or through a link", () => {
  const home = testHome();
  const other = join(home.root, "other");
  mkdirSync(join(home.root, "session-env"), { recursive: true });
  mkdirSync(other);
  for (const directory of [home.root, other]) writeFileSync(join(directory, OURS), "");
  for (const id of ["..", ".", "", "../other", "a/b", undefined]) {
    createSessionEnv(home, id);
    removeSessionEnv(home, id);
  }
  expect(existsSync(join(home.root, OURS))).toBe(true);
  expect(readdirSync(other)).toEqual([OURS]);
  expect(readdirSync(join(home.root, "session-env"))).toEqual([]);
  symlinkSync(other, join(home.root, "session-env", "linked"));
  writeFileSync(join(other, "file"), "");
  removeSessionEnv(home, "linked");
  expect(existsSync(join(other, "file"))).toBe(true);
});
