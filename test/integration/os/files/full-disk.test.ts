import { linkSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWhole, replaceFile } from "../../../../src/os/files/atomic-write.ts";
import { appendPrivate } from "../../../../src/os/files/fs.ts";
import { appendLines } from "../../../../src/os/files/lines.ts";
import { writeUserFile } from "../../../../src/os/files/user-files.ts";
import { MAY_MOUNT, memoryDisk } from "../../../support/storm/disk.ts";

test.skipIf(!MAY_MOUNT)(
  "writeUserFile › keeps the content of a file with several names on a full disk",
  () => {
    const disk = memoryDisk("2m");
    const path = join(disk.path, "file.txt");
    const before = "old line\n".repeat(2_000);
    writeFileSync(path, before);
    linkSync(path, `${path}.link`);
    disk.fill(8_192);
    const after = "new line\n".repeat(20_000);
    expect(() => writeUserFile(path, after)).toThrow("ENOSPC");
    expect(readFileSync(path, "utf8")).toBe(before);
    disk.empty();
    writeUserFile(path, after);
    expect(readFileSync(`${path}.link`, "utf8")).toBe(after);
  },
);

test.skipIf(!MAY_MOUNT)("a full disk › is reported with the path of the file", () => {
  const disk = memoryDisk("2m");
  const path = join(disk.path, "file.txt");
  disk.fill(0);
  const text = "a line\n".repeat(2_000);
  expect(() => replaceFile(path, text)).toThrow(`ENOSPC: no space left on device, write '${path}'`);
  expect(() => createWhole(path, text)).toThrow(`write '${path}'`);
  expect(() => appendPrivate(path, text)).toThrow(`write '${path}'`);
  expect(() => appendLines(path, text, false)).toThrow(`write '${path}'`);
});
