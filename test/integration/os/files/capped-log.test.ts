import {
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { cutLog } from "../../../../src/os/files/capped-log.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const BOUNDS = { max: 1_000, kept: 100 };

test("cutLog › keeps the last lines of a large log, and other writers append after them", () => {
  const { path, fd } = log();
  const other = openSync(path, "a");
  onTestFinished(() => closeSync(other));
  let line = 0;
  while (statSync(path).size <= BOUNDS.max) writeSync(fd, `line ${line++}\n`);
  expect(cutLog(fd, path, BOUNDS)).toBe(true);
  writeSync(other, "from another\n");
  writeSync(fd, "and on\n");
  const lines = readFileSync(path, "utf8").split("\n");
  expect(statSync(path).size).toBeLessThan(BOUNDS.max / 2);
  expect(lines[0]).toMatch(/^line \d+$/);
  expect(lines.slice(-4)).toEqual([`line ${line - 1}`, "from another", "and on", ""]);
  expect(cutLog(fd, path, BOUNDS)).toBe(false);
});

test("cutLog › keeps the end of a line longer than the limit", () => {
  const { path, fd } = log();
  writeSync(fd, "x".repeat(2_000));
  expect(cutLog(fd, path, BOUNDS)).toBe(true);
  expect(statSync(path).size).toBeLessThanOrEqual(BOUNDS.kept);
});

test("cutLog › does nothing if the path is missing, another file or a symlink", () => {
  const { path, fd } = log();
  writeSync(fd, "x\n".repeat(1_000));
  renameSync(path, `${path}.old`);
  expect(cutLog(fd, path, BOUNDS)).toBe(false);
  writeFileSync(path, "y\n".repeat(1_000));
  expect(cutLog(fd, path, BOUNDS)).toBe(false);
  expect(statSync(path).size).toBe(2_000);
  renameSync(path, `${path}.new`);
  symlinkSync(`${path}.old`, path);
  expect(cutLog(fd, path, BOUNDS)).toBe(false);
  expect(statSync(`${path}.old`).size).toBe(2_000);
});

function log() {
  const path = join(temporaryDirectory(), "output.log");
  const fd = openSync(path, "a");
  onTestFinished(() => closeSync(fd));
  return { path, fd };
}
