import fs, { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type StagedFile, stageFile } from "../../../src/os/files/atomic-write.ts";
import { type Group, PostedChange, recordGroup, takeWaiting } from "../../../src/store/group-commit.ts";
import { deadTemporaries } from "../../../src/store/stale-locks.ts";
import { failingRenames } from "../../support/files/failing-renames.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const ACCEPTS = () => true;

/** Creates a file, and posts a change for it. */
function posted(): { readonly path: string; readonly change: PostedChange } {
  const path = join(temporaryDirectory(), "f");
  writeFileSync(path, "old");
  const change = new PostedChange(path);
  change.post("x");
  return { path, change };
}

const waiting = (path: string) => takeWaiting(path, ACCEPTS, new PostedChange(path)) ?? [];

/** Stages the file with the changes that wait, as the holder of the queue does. */
function grouped(path: string): { readonly staged: StagedFile; readonly group: Group } {
  const changes = waiting(path);
  expect(changes.map(({ text }) => text)).toEqual(["x"]);
  const staged = stageFile(path, "new");
  return { staged, group: recordGroup(path, staged.temporary, changes) };
}

test("a posted change › is made once the holder of the queue confirms it, and leaves no file", () => {
  const { path, change } = posted();
  const { staged, group } = grouped(path);
  expect([group.isWhole(), change.isMade()]).toEqual([true, false]);
  staged.commit();
  expect(change.isMade()).toBe(false);
  staged.settle();
  group.confirm();
  expect(change.isMade()).toBe(true);
  expect(readdirSync(dirname(path))).toEqual(["f"]);
});

test("a posted change › is confirmed by the next holder if the holder that made it cannot", () => {
  const { path, change } = posted();
  const { staged, group } = grouped(path);
  staged.commit();
  staged.settle();
  const restore = failingRenames((_from, to) => to.endsWith(".done"));
  group.confirm();
  expect(change.isMade()).toBe(false);
  restore();
  expect(waiting(path)).toEqual([]);
  expect(change.isMade()).toBe(true);
});

test("a posted change › can be abandoned until the rename, and then its group is not written", () => {
  const { path, change } = posted();
  const { staged, group } = grouped(path);
  expect(change.abandon()).toBe(false);
  expect(group.isWhole()).toBe(false);
  // The holder may have been stopped after its last check of the group.
  expect(() => staged.commit()).toThrow("ENOENT");
  group.drop();
  staged.discard();
  expect(readdirSync(dirname(path)).filter((name) => name !== "f.waiting")).toEqual(["f"]);
  expect(waiting(path)).toEqual([]);
});

test("a posted change › cannot be abandoned after the rename, even by a second process", () => {
  const { path, change } = posted();
  const other = new PostedChange(path);
  other.post("x");
  const changes = waiting(path);
  const staged = stageFile(path, "new");
  recordGroup(path, staged.temporary, changes);
  staged.commit();
  staged.settle();
  expect([change.abandon(), other.abandon()]).toEqual([true, true]);
});

test("a posted change › is not made if it was abandoned, even if others of its group were too", () => {
  const { path, change } = posted();
  const other = new PostedChange(path);
  other.post("x");
  const changes = waiting(path);
  const staged = stageFile(path, "new");
  recordGroup(path, staged.temporary, changes);
  expect([change.abandon(), other.abandon()]).toEqual([false, false]);
  staged.discard();
});

test("a posted change › is not made if the disk was full when its group was recorded", () => {
  const { path, change } = posted();
  const changes = waiting(path);
  const staged = stageFile(path, "new");
  const { writeSync } = fs;
  const use = (write: typeof writeSync): void => {
    fs.writeSync = write;
    syncBuiltinESMExports();
  };
  onTestFinished(() => use(writeSync));
  use(() => {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  });
  expect(() => recordGroup(path, staged.temporary, changes)).toThrow("ENOSPC");
  use(writeSync);
  staged.discard();
  expect(change.abandon()).toBe(false);
});

test("a dead holder's group › is finished by the next holder: confirmed after the rename, dropped before", () => {
  for (const isRenamed of [true, false]) {
    const { path, change } = posted();
    const { staged } = grouped(path);
    if (isRenamed) staged.commit();
    staged.settle();
    expect(waiting(path).map(({ text }) => text)).toEqual(isRenamed ? [] : ["x"]);
    expect(change.isMade()).toBe(isRenamed);
    expect(readFileSync(path, "utf8")).toBe(isRenamed ? "new" : "old");
    if (!isRenamed) expect(change.withdraw()).toBe(false);
    expect(readdirSync(dirname(path))).toEqual(["f"]);
  }
});

test("a change of a dead process › is removed and not made", () => {
  const { path, change } = posted();
  const [name = ""] = readdirSync(`${path}.waiting`);
  const [pid, , ...rest] = name.split(".");
  const dead = join(`${path}.waiting`, [pid, "no-start", ...rest].join("."));
  writeFileSync(dead, "y");
  utimesSync(dead, 1, 1);
  expect(deadTemporaries(`${path}.waiting`)).toEqual([dead]);
  expect(waiting(path).map(({ text }) => text)).toEqual(["x"]);
  expect(existsSync(dead)).toBe(false);
  expect(change.withdraw()).toBe(false);
});

test("a staged file of an unfinished group › is not removed by a repair", () => {
  const { path } = posted();
  const { staged, group } = grouped(path);
  const stale = join(dirname(path), ".f.999999999.abc.tmp");
  writeFileSync(stale, "");
  for (const file of [staged.temporary, stale]) utimesSync(file, 1, 1);
  expect(deadTemporaries(dirname(path))).toEqual([stale]);
  group.drop();
  expect(deadTemporaries(dirname(path)).toSorted()).toEqual([staged.temporary, stale].toSorted());
});

test("a voided staged file of an unfinished group › is not removed by a repair", () => {
  const { path, change } = posted();
  const other = new PostedChange(path);
  other.post("x");
  const changes = waiting(path);
  const staged = stageFile(path, "new");
  const group = recordGroup(path, staged.temporary, changes);
  expect(change.abandon()).toBe(false);
  const voided = join(dirname(path), `.void${basename(staged.temporary)}`);
  utimesSync(voided, 1, 1);
  expect(deadTemporaries(dirname(path))).toEqual([]);
  expect(other.abandon()).toBe(false);
  group.drop();
  staged.discard();
});
