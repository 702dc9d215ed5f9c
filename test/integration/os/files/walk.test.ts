import { expect, test } from "vitest";
import { byteText, walkFiles } from "../../../../src/os/files/walk.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { writeTree } from "../../../support/files/write-tree.ts";

test.each([
  [2, ["a", "b/c"], 1],
  [3, ["a", "b/c", "d/e"], 0],
])(
  "walkFiles › calls onLimit only if there are more files than the limit of %i",
  async (limit, files, calls) => {
    const directory = temporaryDirectory();
    writeTree(directory, { a: "", "b/c": "", "d/e": "" });
    let called = 0;
    const found = await walkFiles(byteText(directory), {
      skip: new Set(),
      limit,
      signal: new AbortController().signal,
      onLimit: () => {
        called += 1;
      },
    });
    expect([found, called]).toEqual([files, calls]);
  },
);
