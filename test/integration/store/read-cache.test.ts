import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ReadCache } from "../../../src/store/read-cache.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const LATER_MS = 60_000;

/** Returns a file and its cached reader, whose clock runs ahead so that the file counts as old. */
function watched(text: string, laterMs = LATER_MS) {
  const path = join(temporaryDirectory(), "f");
  writeFileSync(path, text);
  const cache = new ReadCache({ now: () => Date.now() + laterMs });
  let reads = 0;
  const get = (): { readonly text: string | undefined; readonly reads: number } => {
    const read = (): string => {
      reads += 1;
      return readFileSync(path, "utf8");
    };
    return { text: cache.get(path, read), reads };
  };
  return { path, get };
}

test("read cache › reads an unchanged file once", () => {
  const { get } = watched("one");
  expect([get(), get(), get()].map(({ reads }) => reads)).toEqual([1, 1, 1]);
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
  const { path, get } = watched("one");
  get();
  change(path);
  expect(get()).toEqual({ text: readFileSync(path, "utf8"), reads: 2 });
});

test("read cache › always reads a file that has just changed, since another change could get the same time", () => {
  const { get } = watched("one", 0);
  expect([get(), get(), get()].map(({ reads }) => reads)).toEqual([1, 2, 3]);
});

test("read cache › neither reads nor remembers a missing file", () => {
  const { path, get } = watched("one");
  get();
  rmSync(path);
  expect([get(), get()]).toEqual([
    { text: undefined, reads: 1 },
    { text: undefined, reads: 1 },
  ]);
});

test("read cache › retries a file that could not be read", () => {
  const { path, get } = watched("one");
  rmSync(path);
  mkdirSync(path);
  expect(get).toThrow("EISDIR");
  expect(get).toThrow("EISDIR");
  rmSync(path, { recursive: true });
  writeFileSync(path, "two");
  expect(get().text).toBe("two");
});
