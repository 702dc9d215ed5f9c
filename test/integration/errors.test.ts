import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  fileAccessError,
  isFileAccessError,
  isSystemError,
  systemCode,
  systemErrorHint,
  TeamError,
} from "../../src/errors.ts";

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("The call did not throw.");
}

test("systemCode returns the code of a system error, and undefined for a TeamError", () => {
  const missing = thrownBy(() => readFileSync("/nowhere/at/all"));
  expect([systemCode(missing), isSystemError(missing)]).toEqual(["ENOENT", true]);
  const ours = new TeamError("TIMEOUT", "It took too long.", { cause: missing });
  expect([systemCode(ours), isSystemError(ours)]).toEqual([undefined, false]);
  for (const other of [undefined, "ENOENT", new Error("ENOENT"), { code: 2 }]) {
    expect([systemCode(other), isSystemError(other)]).toEqual([undefined, false]);
  }
});

test("systemErrorHint explains a file in place of a directory and the reverse", () => {
  const file = thrownBy(() => readFileSync(`${import.meta.filename}/below`));
  const directory = thrownBy(() => readFileSync(import.meta.dirname));
  expect([systemCode(file), systemErrorHint(file)]).toEqual([
    "ENOTDIR",
    expect.stringContaining("TEAMS_HOME"),
  ]);
  expect([systemCode(directory), systemErrorHint(directory)]).toEqual([
    "EISDIR",
    expect.stringContaining("move the directory away"),
  ]);
});

test("fileAccessError names only the path that the user knows", () => {
  const directory = mkdtempSync(join(tmpdir(), "tt-errors-"));
  writeFileSync(join(directory, "file"), "");
  const refused = thrownBy(() => symlinkSync("123.abc", join(directory, "file", "x.q")));
  rmSync(directory, { recursive: true });
  const { message } = fileAccessError("/team/inboxes/a.json", "written", refused, "; it is unchanged");
  expect(message).toBe("/team/inboxes/a.json cannot be written (ENOTDIR: not a directory); it is unchanged.");
});

test.each([
  ["ENOSPC", "STORAGE_ERROR", /Free some disk space/],
  ["EDQUOT", "STORAGE_ERROR", /quota/],
  ["EROFS", "STORAGE_ERROR", /Remount the file system read-write/],
  ["EIO", "STORAGE_ERROR", /reports errors/],
  ["EACCES", "PERMISSION_DENIED", /own the path/],
])("fileAccessError › reports %s as %s, with what to do", (errno, code, hint) => {
  const failed = Object.assign(new Error(`${errno}: no, write`), { code: errno, syscall: "write" });
  const error = fileAccessError("/team/config.json", "written", failed);
  expect([error.code, error.hint, isFileAccessError(error)]).toEqual([
    code,
    expect.stringMatching(hint),
    true,
  ]);
});
