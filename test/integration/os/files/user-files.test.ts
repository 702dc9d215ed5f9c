import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeUserFile } from "../../../../src/os/files/user-files.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

test("writeUserFile › writes a pipe in place, and fails instead of waiting for its reader", () => {
  const path = join(temporaryDirectory(), "pipe");
  execFileSync("mkfifo", [path]);
  expect(() => writeUserFile(path, "x")).toThrow("ENXIO");
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(reader));
  writeUserFile(path, "text");
  const bytes = Buffer.alloc(10);
  expect(bytes.toString("utf8", 0, readSync(reader, bytes))).toBe("text");
  expect(lstatSync(path).isFIFO()).toBe(true);
});

test("writeUserFile › writes a file with several names in place, longer and shorter", () => {
  const path = join(temporaryDirectory(), "file.txt");
  writeFileSync(path, "one\n", { mode: 0o640 });
  linkSync(path, `${path}.link`);
  for (const text of ["much longer than before ä\n", "short\n", ""]) {
    writeUserFile(path, text);
    expect(readFileSync(`${path}.link`, "utf8")).toBe(text);
  }
  expect(statSync(path)).toMatchObject({
    nlink: 2,
    mode: expect.toSatisfy((mode) => (mode & 0o777) === 0o640),
  });
});

test("writeUserFile › keeps the group of a file of this user, and its mode", () => {
  const path = join(temporaryDirectory(), "file.txt");
  writeFileSync(path, "one\n");
  const own = process.getegid?.() ?? 0;
  // Root may choose any group, others only one of theirs.
  const group = process.getuid?.() === 0 ? 12_345 : process.getgroups?.().find((gid) => gid !== own);
  chownSync(path, statSync(path).uid, group ?? own);
  chmodSync(path, 0o664);
  writeUserFile(path, "two\n");
  const { gid, mode } = statSync(path);
  expect([readFileSync(path, "utf8"), gid, mode & 0o7777]).toEqual(["two\n", group ?? own, 0o664]);
});

test.skipIf(process.getuid?.() === 0)(
  "writeUserFile › does not replace a read-only file, and needs no right to read",
  () => {
    const path = join(temporaryDirectory(), "file.txt");
    writeFileSync(path, "one\n", { mode: 0o444 });
    expect(() => writeUserFile(path, "two\n")).toThrow("EACCES");
    expect(readFileSync(path, "utf8")).toBe("one\n");
    chmodSync(path, 0o200);
    writeUserFile(path, "two\n");
    chmodSync(path, 0o600);
    expect(readFileSync(path, "utf8")).toBe("two\n");
  },
);
