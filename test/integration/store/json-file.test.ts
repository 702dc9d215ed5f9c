import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { readJsonFile, updateJsonFile } from "../../../src/store/json-file.ts";
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

test("a file in the middle of a foreign write is read again (S24)", () => {
  const file = join(temporaryDirectory(), "f.json");
  writeFileSync(file, '{"n": 4');
  expect(readJsonFile(file, shape, () => writeFileSync(file, '{"n": 42}'))).toEqual({ n: 42 });
});

test("a change keeps what it does not know, and writes two spaces and mode 0600", async () => {
  const file = join(temporaryDirectory(), "f.json");
  writeFileSync(file, '{"n":1,"theirs":{"keep":"me"}}');
  chmodSync(file, 0o644);
  await updateJsonFile(file, shape, (current) => ({ ...current, n: 2 }));
  expect(readFileSync(file, "utf8")).toBe('{\n  "n": 2,\n  "theirs": {\n    "keep": "me"\n  }\n}');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a change that throws or changes nothing leaves the file alone, and nothing beside it", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "f.json");
  writeFileSync(file, '{"n":1}');
  expect(await updateJsonFile(file, shape, () => undefined)).toEqual({ n: 1 });
  const broken = updateJsonFile(file, shape, () => {
    throw new Error("no");
  });
  await expect(broken).rejects.toThrow("no");
  expect(readFileSync(file, "utf8")).toBe('{"n":1}');
  expect(readdirSync(directory)).toEqual(["f.json"]);
});
