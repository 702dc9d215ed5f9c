import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PathLookup } from "../../../../src/os/files/path-lookup.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

function place() {
  const top = realpathSync(temporaryDirectory());
  for (const directory of ["work", "else/where"]) mkdirSync(join(top, directory), { recursive: true });
  for (const file of ["else/file", "work/file"]) writeFileSync(join(top, file), "");
  const link = (name: string, target: string) => symlinkSync(target, join(top, "work", name));
  return { top, work: join(top, "work"), link };
}

test("PathLookup › finds files and directories through links", () => {
  const { top, work, link } = place();
  link("there", "../else/file");
  link("twice", "there");
  link("sub", join(top, "else/where"));
  const lookup = new PathLookup();
  const file = { path: join(top, "else/file"), isDirectory: false };
  expect(lookup.find(join(work, "there"))).toEqual(file);
  expect(lookup.find(join(work, "twice"))).toEqual(file);
  expect(lookup.find(`${work}//./twice`)).toEqual(file);
  expect(lookup.find(join(work, "sub"))).toEqual({ path: join(top, "else/where"), isDirectory: true });
  expect(lookup.find(`${work}/sub/../file`)).toEqual(file);
  expect(lookup.find("/..")).toEqual({ path: "/", isDirectory: true });
  expect(lookup.find("/")).toEqual({ path: "/", isDirectory: true });
});

test("PathLookup › finds nothing at missing paths, below files and in loops of links", () => {
  const { work, link } = place();
  link("dangling", "nowhere");
  link("a", "b");
  link("b", "a");
  link("deep", "deep/x");
  link("own", ".");
  const lookup = new PathLookup();
  for (const name of ["none", "none/x", "file/x", "file/", "dangling", "a", "b/x", "deep"]) {
    expect(lookup.find(`${work}/${name}`), name).toBeUndefined();
  }
  expect(lookup.find(join(work, "own/".repeat(2_000), "file"))).toBeUndefined();
  expect(lookup.find(join(work, "own/own/file"))?.path).toBe(join(work, "file"));
});

test("PathLookup › finds the same files after many lookups in one directory", () => {
  const { work, link } = place();
  writeFileSync(join(work, "é\u0301"), "");
  link("link", "file");
  const lookup = new PathLookup();
  for (let i = 0; i < 100; i += 1) expect(lookup.find(join(work, `none-${i}`))).toBeUndefined();
  expect(lookup.find(join(work, "file"))?.path).toBe(join(work, "file"));
  expect(lookup.find(join(work, "link"))?.path).toBe(join(work, "file"));
  expect(lookup.find(join(work, "é\u0301"))?.path).toBe(join(work, "é\u0301"));
});

test("PathLookup › finds files in a directory that cannot be listed", () => {
  const { work } = place();
  chmodSync(work, 0o100);
  try {
    const lookup = new PathLookup();
    for (let i = 0; i < 100; i += 1) expect(lookup.find(join(work, `none-${i}`))).toBeUndefined();
    expect(lookup.find(join(work, "file"))?.path).toBe(join(work, "file"));
  } finally {
    chmodSync(work, 0o700);
  }
});

test("PathLookup › sees each path as it was at its first lookup", () => {
  const { work } = place();
  const lookup = new PathLookup();
  expect(lookup.find(join(work, "later"))).toBeUndefined();
  writeFileSync(join(work, "later"), "");
  expect(lookup.find(join(work, "later"))).toBeUndefined();
  expect(new PathLookup().find(join(work, "later"))?.path).toBe(join(work, "later"));
});
