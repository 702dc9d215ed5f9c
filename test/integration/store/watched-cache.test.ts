import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WatchedCache } from "../../../src/store/watched-cache.ts";
import { openTreeBell } from "../../../src/wakeup/tree-bell.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { touchedPaths } from "../../support/files/touched-paths.ts";
import { eventually } from "../../support/timing/eventually.ts";

/** Returns a directory whose changes a real watch reports to the cache. */
function watched() {
  const directory = temporaryDirectory();
  const reports: string[] = [];
  const cache: WatchedCache = new WatchedCache((path) => bell.isWatched(path));
  const bell = openTreeBell([directory], (path) => {
    reports.push(path);
    cache.changed(path);
  });
  onTestFinished(() => bell.close());
  const get = (path: string) => cache.get(path, () => readFileSync(path, "utf8"));
  return { directory, cache, get, reports };
}

test("watched cache › reads an unchanged file once, and checks a missing one once", async () => {
  const { directory, cache, get } = watched();
  const [file, missing] = [join(directory, "f"), join(directory, "missing")];
  writeFileSync(file, "one");
  await eventually("the text", () => get(file) === "one");
  const lookUp = () => [get(file), get(missing), cache.has(file), cache.has(missing)];
  await eventually("the watch to be quiet", async () => (await touchedPaths(lookUp)).length === 0);
  expect(lookUp()).toEqual(["one", undefined, true, false]);
});

test("watched cache › reads a file again when the watch reports it", async () => {
  const { directory, cache, get } = watched();
  const file = join(directory, "f");
  expect([get(file), cache.has(file)]).toEqual([undefined, false]);
  writeFileSync(file, "one");
  await eventually("the file", () => get(file) === "one" && cache.has(file));
  writeFileSync(file, "two");
  await eventually("the new text", () => get(file) === "two");
  rmSync(file);
  await eventually("its removal", () => get(file) === undefined && !cache.has(file));
});

test("watched cache › finds files that were created in a new directory before it was watched", async () => {
  const { directory, get, reports } = watched();
  const run = join(directory, "run");
  const file = join(run, "f");
  expect(get(file)).toBeUndefined();
  mkdirSync(run);
  writeFileSync(file, "one");
  await eventually("the report", () => reports.includes(run));
  expect(get(file)).toBe("one");
  rmSync(run, { recursive: true });
  await eventually("the removal", () => get(file) === undefined);
});

test("watched cache › checks every file again after checkAll", async () => {
  const { directory, cache, get, reports } = watched();
  const [elsewhere, link] = [join(temporaryDirectory(), "f"), join(directory, "link")];
  writeFileSync(elsewhere, "one");
  symlinkSync(elsewhere, link);
  await eventually("the link", () => reports.includes(link));
  expect(get(link)).toBe("one");
  // The watch reports no change of the target.
  writeFileSync(elsewhere, "two");
  expect(get(link)).toBe("one");
  cache.checkAll();
  expect(get(link)).toBe("two");
});

test("watched cache › always checks a file in a directory that is not watched", () => {
  const { get } = watched();
  const file = join(temporaryDirectory(), "f");
  writeFileSync(file, "one");
  expect(get(file)).toBe("one");
  writeFileSync(file, "two");
  expect(get(file)).toBe("two");
});
