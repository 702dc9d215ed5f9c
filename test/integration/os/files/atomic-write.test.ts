import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test, vi } from "vitest";
import { makeDirBelow, syncFile } from "../../../../src/os/files/atomic-write.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

/** Loads the modules as a newly started process does. */
async function newProcess() {
  vi.resetModules();
  const { temporaryBeside, temporaryWriter } = await import("../../../../src/os/files/fs.ts");
  const { replaceFile } = await import("../../../../src/os/files/atomic-write.ts");
  return { temporaryBeside, temporaryWriter, replaceFile };
}

test("syncFile › resolves for a file and for a missing file, and reports any other failure", async () => {
  const path = join(temporaryDirectory(), "f");
  writeFileSync(path, "x");
  expect(await syncFile(path)).toBeUndefined();
  expect(await syncFile(`${path}-missing`)).toBeUndefined();
  await expect(syncFile("x".repeat(5_000))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

test("makeDirBelow › never creates its base", () => {
  const base = join(temporaryDirectory(), "deleted");
  expect(() => makeDirBelow(base, join(base, "below"))).toThrow("ENOENT");
  makeDirBelow(base, base);
  expect(existsSync(base)).toBe(false);
});

test("replaceFile › ignores a half-written file of a killed process, even one with its own pid (S77)", async () => {
  const path = join(temporaryDirectory(), "f");
  const killed = await newProcess();
  const left = killed.temporaryBeside(path);
  writeFileSync(left, "half");
  const { replaceFile, temporaryWriter } = await newProcess();
  replaceFile(path, "whole");
  expect(temporaryWriter(basename(left))).toBe(process.pid);
  expect(readFileSync(path, "utf8")).toBe("whole");
  expect(readFileSync(left, "utf8")).toBe("half");
});
