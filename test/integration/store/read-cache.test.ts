import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Remembered } from "../../../src/store/read-cache.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const LATER_MS = 60_000;

/** Returns a file and its cached reader, whose clock runs ahead so that the file counts as old. */
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

test("read cache › reads an unchanged file once", () => {
  const { look } = watched("one");
  expect([look(), look(), look()].map(({ reads }) => reads)).toEqual([1, 1, 1]);
});

test.each([
  [
    "replaced by a file of the same size",
    (path: string) => {
      writeFileSync(`${path}.new`, "two");
      renameSync(`${path}.new`, path);
    },
  ],
  ["overwritten", (path: string) => writeFileSync(path, "longer")],
  [
    "removed and created again",
    (path: string) => {
      rmSync(path);
      writeFileSync(path, "longer");
    },
  ],
])("read cache › reads a file again after it was %s", (_how, change) => {
  const { path, look } = watched("one");
  look();
  change(path);
  expect(look()).toEqual({ text: readFileSync(path, "utf8"), reads: 2 });
});

test("read cache › always reads a file that has just changed, since a second change could look the same", () => {
  const { look } = watched("one", 0);
  expect([look(), look(), look()].map(({ reads }) => reads)).toEqual([1, 2, 3]);
});

test("read cache › neither reads nor remembers a missing file", () => {
  const { path, look } = watched("one");
  look();
  rmSync(path);
  expect([look(), look()]).toEqual([
    { text: undefined, reads: 1 },
    { text: undefined, reads: 1 },
  ]);
});

test("read cache › retries a file that could not be read", () => {
  const { path, look } = watched("one");
  rmSync(path);
  mkdirSync(path);
  expect(look).toThrow("EISDIR");
  expect(look).toThrow("EISDIR");
  rmSync(path, { recursive: true });
  writeFileSync(path, "two");
  expect(look().text).toBe("two");
});
