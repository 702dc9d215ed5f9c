import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Ability, ownAbilities, readSkips, skipFlaws } from "../../../../scripts/gate/skips.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const NONE: ReadonlySet<Ability> = new Set<Ability>();
const ROOT: ReadonlySet<Ability> = new Set<Ability>(["root"]);
const MOUNTS: ReadonlySet<Ability> = new Set<Ability>(["mounts"]);

it("skipFlaws › reports each skipped test that is not on the list", () => {
  const allowed = [{ test: "a > mac", reason: "macOS only" }];
  const all = new Set(["a > mac", "b > shell"]);
  expect(skipFlaws(["a > mac", "b > shell"], allowed, all, NONE)).toEqual([
    "not in test/skips.json for this user, but skipped: b > shell",
  ]);
  expect(skipFlaws([], allowed, all, NONE)).toEqual([]);
});

it("skipFlaws › reports each entry that is not a test", () => {
  const allowed = [{ test: "a > mac", reason: "macOS only" }];
  expect(skipFlaws([], allowed, new Set(["a > macOS"]), NONE)).toEqual([
    "skips: no test has this name: a > mac",
  ]);
});

it("skipFlaws › allows all tests of a listed file or group, and no other test", () => {
  const allowed = [
    { test: "a", reason: "no mounts" },
    { test: "b > disk", reason: "no mounts" },
  ];
  const all = new Set(["a > x", "a > y > z", "b > disk > full", "b > disks", "ab > x"]);
  expect(skipFlaws([...all], allowed, all, NONE)).toEqual([
    "not in test/skips.json for this user, but skipped: b > disks",
    "not in test/skips.json for this user, but skipped: ab > x",
  ]);
});

it("skipFlaws › allows a skip only to users who cannot run the test", () => {
  const allowed = [{ test: "a", reason: "only root can change an owner", unless: "root" as const }];
  const all = new Set(["a > x"]);
  expect(skipFlaws(["a > x"], allowed, all, MOUNTS)).toEqual([]);
  expect(skipFlaws(["a > x"], allowed, all, ROOT)).toEqual([
    "not in test/skips.json for this user, but skipped: a > x",
  ]);
});

it("ownAbilities › contains root only for root", () => {
  expect(ownAbilities().has("root")).toBe(process.getuid?.() === 0);
});

it.each([
  ["an unknown ability", [{ test: "a", reason: "b", unless: "wings" }]],
  ["no reason", [{ test: "a", reason: "" }]],
])("readSkips › refuses %s", (_, content) => {
  const file = join(temporaryDirectory(), "skips.json");
  writeFileSync(file, JSON.stringify(content));
  expect(() => readSkips(file)).toThrow("must be a list of");
});
