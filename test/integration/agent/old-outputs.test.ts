import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { oldOutputs, RETENTION_MS, sweepOutputs } from "../../../src/agent/background/output-cleanup.ts";
import { OutputFile, outputDirectory } from "../../../src/agent/background/output-file.ts";
import { checkOutputs } from "../../../src/doctor/deleted-teams.ts";
import { scratchDirectory } from "../../../src/os/files/app-directories.ts";

const HOUR = 60 * 60 * 1000;
const NOW = Date.parse("2026-05-10T12:00:00Z");

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "teams-scratch-"));
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }));
});

/** Creates a file in the scratch directory, last written `age` milliseconds ago, and returns its path. */
function put(path: string, age: number): string {
  const file = join(scratch, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "x");
  const at = new Date(NOW - age);
  utimesSync(file, at, at);
  return file;
}

test("sweepOutputs › removes outputs older than three days, and directories that become empty", () => {
  const old = put("-home-ada-old/tasks/bash-1.output", RETENTION_MS + HOUR);
  const sibling = put("-home-ada-work/tasks/bash-2.output", RETENTION_MS + HOUR);
  const young = put("-home-ada-work/tasks/bash-3.output", RETENTION_MS - HOUR);
  sweepOutputs(NOW, scratch);
  expect([old, sibling, young].map(existsSync)).toEqual([false, false, true]);
  expect(readdirSync(scratch).sort()).toEqual([".swept", "-home-ada-work"].sort());
});

test("sweepOutputs › removes only outputs, and does not follow symlinks", () => {
  const elsewhere = put("elsewhere/tasks/a.output", 0);
  const kept = ["0a1b/crew/ada/bell", "-work/tasks/note.txt", "-work/other/b.output", "c.output"].map(
    (path) => put(path, 100 * RETENTION_MS),
  );
  const outside = mkdtempSync(join(tmpdir(), "teams-outside-"));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  mkdirSync(join(outside, "tasks"));
  const linked = join(outside, "tasks", "d.output");
  writeFileSync(linked, "x");
  utimesSync(linked, 0, 0);
  symlinkSync(outside, join(scratch, "-link"));
  mkdirSync(join(scratch, "-half"));
  symlinkSync(join(outside, "tasks"), join(scratch, "-half", "tasks"));
  sweepOutputs(NOW, scratch);
  expect([...kept, elsewhere, linked].every(existsSync)).toBe(true);
});

test("sweepOutputs › leaves a directory with the name of an output, and removes the outputs after it", () => {
  const old = put("-work/tasks/bash-2.output", 2 * RETENTION_MS);
  const directory = join(dirname(old), "bash-1.output");
  mkdirSync(directory);
  utimesSync(directory, 0, 0);
  sweepOutputs(NOW, scratch);
  expect([existsSync(old), existsSync(directory)]).toEqual([false, true]);
});

test("sweepOutputs › runs at most once a day for all processes", () => {
  const first = put("-work/tasks/a.output", 2 * RETENTION_MS);
  const mark = join(scratch, ".swept");
  const sweptAt = (age: number): void => {
    const at = new Date(NOW - age);
    utimesSync(mark, at, at);
  };
  writeFileSync(mark, "");
  sweptAt(HOUR);
  sweepOutputs(NOW, scratch);
  expect(existsSync(first)).toBe(true);
  sweptAt(25 * HOUR);
  sweepOutputs(NOW, scratch);
  expect(existsSync(first)).toBe(false);
});

test("checkOutputs › reports old outputs, and removes them with --fix", () => {
  expect(checkOutputs(NOW, false, scratch).level).toBe("ok");
  const old = put("-work/tasks/a.output", 2 * RETENTION_MS);
  expect(checkOutputs(NOW, false, scratch)).toMatchObject({
    level: "warn",
    text: expect.stringContaining(old),
    remedy: expect.stringContaining("--fix"),
  });
  expect(checkOutputs(NOW, true, scratch).level).toBe("ok");
  expect(oldOutputs(NOW, scratch)).toEqual([]);
});

test("OutputFile › sweeps old outputs when it begins", () => {
  const cwd = join(scratch, "work");
  const file = new OutputFile(cwd, "bash-1", []);
  onTestFinished(() => rmSync(dirname(outputDirectory(cwd)), { recursive: true, force: true }));
  const old = join(outputDirectory(cwd), "bash-0.output");
  mkdirSync(dirname(old), { recursive: true });
  writeFileSync(old, "x");
  utimesSync(old, 0, 0);
  rmSync(join(scratchDirectory(), ".swept"), { force: true });
  file.begin();
  expect([existsSync(old), existsSync(file.path)]).toEqual([false, true]);
  // A directory that was removed in the meantime is created again.
  rmSync(dirname(outputDirectory(cwd)), { recursive: true });
  file.add("stdout", "more");
  expect([file.problem, readFileSync(file.path, "utf8")]).toEqual([undefined, "more"]);
});
