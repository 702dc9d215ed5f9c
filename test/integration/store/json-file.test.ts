import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { jsonUpdate, readJsonFile, readRecordFile } from "../../../src/store/json-file.ts";
import { updateFile } from "../../../src/store/update-file.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const shape = z.looseObject({ n: z.number().default(0) });

test("readJsonFile › returns undefined for a missing file", () => {
  expect(readJsonFile(join(temporaryDirectory(), "none.json"), shape)).toBeUndefined();
});

test("readJsonFile › rejects invalid JSON and wrong shapes, and leaves the file alone", () => {
  const file = join(temporaryDirectory(), "f.json");
  for (const [content, flaw] of [
    ["{", "it is not JSON"],
    ["", "it is empty"],
    ['{"n": "x"}', "n: "],
  ] as const) {
    writeFileSync(file, content);
    expect(() => readJsonFile(file, shape)).toThrow(expect.objectContaining({ code: "CORRUPT_FILE" }));
    expect(() => readJsonFile(file, shape)).toThrow(flaw);
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
