import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { isPlainOutput, writeNow } from "../../../../src/os/files/standard-streams.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const open: number[] = [];
afterEach(() => {
  for (const fd of open.splice(0)) closeSync(fd);
});

function opened(path: string, flags: number | string): number {
  const fd = openSync(path, flags);
  open.push(fd);
  return fd;
}

function fifo(): string {
  const path = join(temporaryDirectory(), "fifo");
  execFileSync("mkfifo", [path]);
  return path;
}

test("writeNow › returns the bytes that a non-blocking pipe does not accept", () => {
  const fd = opened(fifo(), constants.O_RDWR | constants.O_NONBLOCK);
  const text = "é".repeat(200_000);
  const rest = writeNow(fd, text);
  expect(rest.length).toBeGreaterThan(0);
  const taken = Buffer.alloc(Buffer.byteLength(text) - rest.length);
  let at = 0;
  while (at < taken.length) at += readSync(fd, taken, at, taken.length - at, null);
  expect(Buffer.concat([taken, rest]).toString() === text).toBe(true);
});

test("isPlainOutput › accepts files, pipes and /dev/null, but no other devices or closed descriptors", () => {
  const path = fifo();
  expect(isPlainOutput(opened(path, constants.O_RDWR))).toBe(true);
  expect(isPlainOutput(opened(join(path, "..", "file"), "w"))).toBe(true);
  expect(isPlainOutput(opened("/dev/null", "w"))).toBe(true);
  expect(isPlainOutput(opened("/dev/zero", "w"))).toBe(false);
  const closed = openSync("/dev/null", "w");
  closeSync(closed);
  expect(isPlainOutput(closed)).toBe(false);
});
