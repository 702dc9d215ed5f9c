import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Remembered } from "../../../src/store/read-cache.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const LATER_MS = 60_000;

/** A file, and what looks at it so long after it was written that it counts as old. */
function watched(text: string, laterMs = LATER_MS) {
  const path = join(temporaryDirectory(), "f");
  writeFileSync(path, text);
  const remembered = new Remembered({ now: () => Date.now() + laterMs });
  let reads = 0;
  const look = (): { readonly text: string | undefined; readonly reads: number } => {
    const read = (): string => {
      reads += 1;
      return readFileSync(path, "utf8");
    };
    return { text: remembered.of(path, read), reads };
  };
  return { path, look };
}

test("a file that stays the same is read once", () => {
  const { look } = watched("one");
  expect([look(), look(), look()].map(({ reads }) => reads)).toEqual([1, 1, 1]);
});

test.each([
  [
    "replaced by another of the same size",
    (path: string) => {
      writeFileSync(`${path}.new`, "two");
      renameSync(`${path}.new`, path);
    },
  ],
  ["written over", (path: string) => writeFileSync(path, "longer")],
  [
    "removed and made anew",
    (path: string) => {
      rmSync(path);
      writeFileSync(path, "longer");
    },
  ],
])("one that was %s is read again", (_how, change) => {
  const { path, look } = watched("one");
  look();
  change(path);
  expect(look()).toEqual({ text: readFileSync(path, "utf8"), reads: 2 });
});

test("one that has just changed is read at every look: a second change might not be told from the first", () => {
  const { look } = watched("one", 0);
  expect([look(), look(), look()].map(({ reads }) => reads)).toEqual([1, 2, 3]);
});

test("one that is gone is neither read nor remembered", () => {
  const { path, look } = watched("one");
  look();
  rmSync(path);
  expect([look(), look()]).toEqual([
    { text: undefined, reads: 1 },
    { text: undefined, reads: 1 },
  ]);
});

test("what cannot be read is tried again at the next look", () => {
  const { path, look } = watched("one");
  rmSync(path);
  mkdirSync(path);
  expect(look).toThrow("EISDIR");
  expect(look).toThrow("EISDIR");
  rmSync(path, { recursive: true });
  writeFileSync(path, "two");
  expect(look().text).toBe("two");
});
