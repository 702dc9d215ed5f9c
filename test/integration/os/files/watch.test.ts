import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { watchDirectory } from "../../../../src/os/files/watch.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { eventually } from "../../../support/timing/eventually.ts";

it("watchDirectory › reports each entry by name, and the removal of the directory without a name", async () => {
  const directory = join(temporaryDirectory(), "watched");
  mkdirSync(directory);
  const seen: (string | undefined)[] = [];
  const watching = watchDirectory(directory, (name) => seen.push(name));
  try {
    writeFileSync(join(directory, "watched"), "an entry that is called like its directory");
    await eventually("the report of the entry", () => seen.includes("watched"));
    expect(seen).not.toContain(undefined);
    rmSync(directory, { recursive: true });
    await eventually("the report of the removal", () => seen.includes(undefined));
  } finally {
    watching?.close();
  }
});

it("watchDirectory › returns undefined if the directory does not exist", () => {
  expect(watchDirectory(join(temporaryDirectory(), "none"), () => undefined)).toBeUndefined();
});
