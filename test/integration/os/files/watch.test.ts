import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { watchDirectory } from "../../../../src/os/files/watch.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { eventually } from "../../../support/timing/eventually.ts";

it("tells of each entry by its name, and of the directory's own end without one", async () => {
  const directory = join(temporaryDirectory(), "watched");
  mkdirSync(directory);
  const seen: (string | undefined)[] = [];
  const watching = watchDirectory(directory, (name) => seen.push(name));
  try {
    writeFileSync(join(directory, "watched"), "an entry that is called like its directory");
    await eventually("word of the entry", () => seen.includes("watched"));
    expect(seen).not.toContain(undefined);
    rmSync(directory, { recursive: true });
    await eventually("word of the end", () => seen.includes(undefined));
  } finally {
    watching?.close();
  }
});

it("watches nothing that is not there", () => {
  expect(watchDirectory(join(temporaryDirectory(), "none"), () => undefined)).toBeUndefined();
});
