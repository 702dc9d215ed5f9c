import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test, vi } from "vitest";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

/** The modules as a process loads them that has just begun. */
async function startedAnew() {
  vi.resetModules();
  const { temporaryBeside, temporaryWriter } = await import("../../../src/os/files/fs.ts");
  const { replaceFile } = await import("../../../src/os/files/atomic-write.ts");
  return { temporaryBeside, temporaryWriter, replaceFile };
}

test("what a killed process was writing is in nobody's way, nor touched by one that has its pid (S77)", async () => {
  const path = join(temporaryDirectory(), "f");
  const killed = await startedAnew();
  const left = killed.temporaryBeside(path);
  writeFileSync(left, "half");
  const { replaceFile, temporaryWriter } = await startedAnew();
  replaceFile(path, "whole");
  expect(temporaryWriter(basename(left))).toBe(process.pid);
  expect(readFileSync(path, "utf8")).toBe("whole");
  expect(readFileSync(left, "utf8")).toBe("half");
});
