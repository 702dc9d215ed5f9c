import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { jsonPlan, readJsonFile, readRecordFile } from "../../../src/store/json-file.ts";
import { updateFile } from "../../../src/store/lock.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const shape = z.looseObject({ n: z.number().default(0) });

test("a missing file is no error", () => {
  expect(readJsonFile(join(temporaryDirectory(), "none.json"), shape)).toBeUndefined();
});

test("what is not JSON, or not of its shape, is refused with the file left as it is", () => {
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

test("a file that the system does not let us read is told with a code, and the system's own beside it", () => {
  const directory = temporaryDirectory();
  const refusal = expect.objectContaining({
    code: "PERMISSION_DENIED",
    message: expect.stringContaining(`${directory} cannot be read`),
    details: { file: directory, errno: "EISDIR" },
  });
  expect(() => readJsonFile(directory, shape)).toThrow(refusal);
  expect(() => readRecordFile(directory, shape)).toThrow(refusal);
});

test("a file in the middle of a foreign write is read again (S24)", () => {
  const file = join(temporaryDirectory(), "f.json");
  writeFileSync(file, '{"n": 4');
  expect(readJsonFile(file, shape, () => writeFileSync(file, '{"n": 42}'))).toEqual({ n: 42 });
});

/** @returns what the file holds then */
function changed(path: string, change: (value: { n: number }) => { n: number } | undefined) {
  const missing = (): Error => new Error("missing");
  return updateFile(path, jsonPlan({ path, schema: shape, missing, change }));
}

test("a change keeps what it does not know, and writes two spaces and mode 0600", async () => {
  const file = join(temporaryDirectory(), "f.json");
  writeFileSync(file, '{"n":1,"theirs":{"keep":"me"}}');
  chmodSync(file, 0o644);
  await changed(file, (current) => ({ ...current, n: 2 }));
  expect(readFileSync(file, "utf8")).toBe('{\n  "n": 2,\n  "theirs": {\n    "keep": "me"\n  }\n}');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a change that throws or changes nothing leaves the file alone, and nothing beside it", async () => {
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

test("a change of a file that is not there, or cannot be read, is refused as told", async () => {
  const file = join(temporaryDirectory(), "f.json");
  await expect(changed(file, (current) => current)).rejects.toThrow("missing");
  writeFileSync(file, '{"n":');
  await expect(changed(file, (current) => current)).rejects.toMatchObject({ code: "CORRUPT_FILE" });
  expect(readFileSync(file, "utf8")).toBe('{"n":');
});
