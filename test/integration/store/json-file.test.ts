import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { jsonUpdate, readJsonFile, readRecordFile } from "../../../src/store/json-file.ts";
import { updateFile } from "../../../src/store/update-file.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { script } from "../../support/processes/script-process.ts";
import { pollUntilSettled } from "../../support/timing/until-over.ts";

const inPlaceWriter = script("store/in-place-writer");
const shape = z.looseObject({ n: z.number().default(0) });

test("readJsonFile › returns undefined for a missing file", () => {
  expect(readJsonFile(join(temporaryDirectory(), "none.json"), shape)).toBeUndefined();
});

test("readJsonFile › rejects invalid JSON and wrong shapes, and leaves the file alone", () => {
  const file = join(temporaryDirectory(), "f.json");
  for (const [content, problem] of [
    ["{", "it is not JSON"],
    ["", "it is empty"],
    ['{"n": "x"}', "n: "],
  ] as const) {
    writeFileSync(file, content);
    expect(() => readJsonFile(file, shape)).toThrow(expect.objectContaining({ code: "CORRUPT_FILE" }));
    expect(() => readJsonFile(file, shape)).toThrow(problem);
    expect(readFileSync(file, "utf8")).toBe(content);
  }
});

test("readJsonFile and readRecordFile › report a file they may not read, with the system's error code", () => {
  const directory = temporaryDirectory();
  const refusal = expect.objectContaining({
    code: "PERMISSION_DENIED",
    message: expect.stringContaining(`${directory} cannot be read`),
    details: { file: directory, errno: "EISDIR" },
  });
  expect(() => readJsonFile(directory, shape)).toThrow(refusal);
  expect(() => readRecordFile(directory, shape)).toThrow(refusal);
});

test("readJsonFile › reads again if another program is writing the file (S24)", () => {
  const file = join(temporaryDirectory(), "f.json");
  writeFileSync(file, '{"n": 4');
  expect(readJsonFile(file, shape, () => writeFileSync(file, '{"n": 42}'))).toEqual({ n: 42 });
});

test.each(["broken", "locked"])(
  "readJsonFile › outlasts a program that writes in place (%s)",
  async (mode) => {
    const file = join(temporaryDirectory(), "f.json");
    writeFileSync(file, '{"n": 42}');
    const { line, ended } = inPlaceWriter(mode, file, mode === "locked" ? "600" : "170", "3");
    await line();
    const over = await pollUntilSettled(ended(), () => {
      expect(readJsonFile(file, shape)).toEqual({ n: 42 });
    });
    expect(over).toMatchObject({ code: 0, stderr: "" });
  },
);

/** Reads a file that stays broken. @returns the pauses in milliseconds before the refusal */
function pausesOf(file: string): number[] {
  const pauses: number[] = [];
  expect(() => readJsonFile(file, shape, (ms) => pauses.push(ms))).toThrow("cannot be read");
  return pauses;
}

const sum = (times: readonly number[]): number => times.reduce((total, ms) => total + ms, 0);

test("readJsonFile › waits in growing pauses for half a second, and once for one broken version", () => {
  const file = join(temporaryDirectory(), "f.json");
  writeFileSync(file, "{");
  const pauses = pausesOf(file);
  expect(sum(pauses)).toBe(500);
  expect(pauses.slice(0, 4)).toEqual([2, 4, 8, 16]);
  expect(pausesOf(file)).toEqual([]);
  writeFileSync(file, "{{");
  expect(sum(pausesOf(file))).toBe(500);
});

test("readJsonFile › does not wait for a valid file, and waits briefly for a file that broke long ago", () => {
  const file = join(temporaryDirectory(), "f.json");
  writeFileSync(file, '{"n": 1}');
  mkdirSync(`${file}.lock`);
  const wait = (): never => expect.fail("It waited for a whole file.");
  expect(readJsonFile(file, shape, wait)).toEqual({ n: 1 });
  rmdirSync(`${file}.lock`);
  writeFileSync(file, "{");
  utimesSync(file, 1_000, 1_000);
  expect(sum(pausesOf(file))).toBe(20);
});

test("readJsonFile › waits longer while another program holds the lock, but neither for ever nor for a stale or own lock", () => {
  for (const [mode, age, expected] of [
    [0o755, 0, 2_000],
    [0o755, 11, 500],
    [0o500, 0, 500],
  ] as const) {
    const file = join(temporaryDirectory(), "f.json");
    writeFileSync(file, "{");
    mkdirSync(`${file}.lock`, { mode });
    const time = Date.now() / 1_000 - age;
    utimesSync(`${file}.lock`, time, time);
    expect(sum(pausesOf(file))).toBe(expected);
  }
});

/** Applies a change. @returns the content of the file afterwards */
function changed(path: string, change: (value: { n: number }) => { n: number } | undefined) {
  const missing = (): Error => new Error("missing");
  return updateFile(path, jsonUpdate({ path, schema: shape, missing, change }));
}

test("a JSON change › keeps unknown fields, and writes with two spaces and mode 0600", async () => {
  const file = join(temporaryDirectory(), "f.json");
  writeFileSync(file, '{"n":1,"theirs":{"keep":"me"}}');
  chmodSync(file, 0o644);
  await changed(file, (current) => ({ ...current, n: 2 }));
  expect(readFileSync(file, "utf8")).toBe('{\n  "n": 2,\n  "theirs": {\n    "keep": "me"\n  }\n}');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a JSON change › leaves the file alone if it throws or changes nothing", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "f.json");
  writeFileSync(file, '{"n":1}');
  expect(await changed(file, () => undefined)).toEqual({ n: 1 });
  const broken = changed(file, () => {
    throw new Error("no");
  });
  await expect(broken).rejects.toThrow("no");
  expect(readFileSync(file, "utf8")).toBe('{"n":1}');
  expect(readdirSync(directory)).toEqual(["f.json"]);
});

test("a JSON change › is refused for a missing or unreadable file", async () => {
  const file = join(temporaryDirectory(), "f.json");
  await expect(changed(file, (current) => current)).rejects.toThrow("missing");
  writeFileSync(file, '{"n":');
  await expect(changed(file, (current) => current)).rejects.toMatchObject({ code: "CORRUPT_FILE" });
  expect(readFileSync(file, "utf8")).toBe('{"n":');
});
