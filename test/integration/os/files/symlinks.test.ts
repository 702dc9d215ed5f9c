import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { realPathOf } from "../../../../src/os/files/symlinks.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

function place() {
  const top = realpathSync(temporaryDirectory());
  for (const directory of ["work", "else/where"]) mkdirSync(join(top, directory), { recursive: true });
  for (const file of ["else/file", "work/file"]) writeFileSync(join(top, file), "");
  const link = (name: string, target: string) => symlinkSync(target, join(top, "work", name));
  return { top, work: join(top, "work"), link };
}

test("realPathOf › resolves symlinks, even if the target does not exist", () => {
  const { top, work, link } = place();
  link("there", "../else/file");
  link("not-yet", "../else/new");
  link("twice", "not-yet");
  link("absolute", join(top, "else/new/deeper"));
  expect(realPathOf(join(work, "there"))).toBe(join(top, "else/file"));
  expect(realPathOf(join(work, "not-yet"))).toBe(join(top, "else/new"));
  expect(realPathOf(join(work, "twice"))).toBe(join(top, "else/new"));
  expect(realPathOf(join(work, "absolute/x"))).toBe(join(top, "else/new/deeper/x"));
  expect(realPathOf(join(work, "plain/x"))).toBe(join(work, "plain/x"));
  expect(realPathOf(join(top, "else/file/x"))).toBe(join(top, "else/file/x"));
});

test("realPathOf › resolves .. after a symlink to the parent of its target", () => {
  const { top, work, link } = place();
  link("sub", "../else/where");
  link("gone", "../else/new/sub");
  expect(realPathOf(`${work}/sub/../file`)).toBe(join(top, "else/file"));
  expect(realPathOf(`${work}/sub/../new`)).toBe(join(top, "else/new"));
  expect(realPathOf(`${work}/gone/../x`)).toBe(join(top, "else/new/x"));
  expect(realPathOf(`${work}/./a//../b`)).toBe(join(work, "b"));
  expect(realPathOf("/../..")).toBe("/");
});

test("realPathOf › throws ELOOP for circular symlinks", () => {
  const { work, link } = place();
  link("a", "b");
  link("b", "a");
  expect(() => realPathOf(join(work, "a"))).toThrow("ELOOP");
  expect(() => realPathOf(`${work}/a/../x`)).toThrow("ELOOP");
});
