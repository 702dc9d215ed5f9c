import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { appendJsonLine, readJsonLines } from "../../../src/store/jsonl.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const shape = z.object({ n: z.number() });

test("lines come back in order, and a later read goes on where the last one ended", () => {
  const file = join(temporaryDirectory(), "j.jsonl");
  appendJsonLine(file, { n: 1 });
  const first = readJsonLines(file, shape);
  expect(first.lines).toEqual([{ n: 1 }]);
  appendJsonLine(file, { n: 2 });
  expect(readJsonLines(file, shape, first.offset).lines).toEqual([{ n: 2 }]);
});

test("a missing file has no lines", () => {
  expect(readJsonLines(join(temporaryDirectory(), "none"), shape)).toEqual({ lines: [], offset: 0, bad: 0 });
});

test("a torn last line is left for later, and takes nothing with it that is written behind it", () => {
  const file = join(temporaryDirectory(), "j.jsonl");
  writeFileSync(file, '{"n":1}\n{"n":');
  expect(readJsonLines(file, shape)).toEqual({ lines: [{ n: 1 }], offset: 8, bad: 0 });
  appendJsonLine(file, { n: 2 });
  expect(readJsonLines(file, shape)).toMatchObject({ lines: [{ n: 1 }, { n: 2 }], bad: 1 });
});

test("lines that are no JSON, of another shape, or cut inside a character are skipped and counted", () => {
  const file = join(temporaryDirectory(), "j.jsonl");
  writeFileSync(file, 'rubbish\n{"n":"x"}\n\n');
  appendFileSync(file, Buffer.concat([Buffer.from('{"n":"é').subarray(0, 7), Buffer.from("\n")]));
  appendJsonLine(file, { n: 3 });
  expect(readJsonLines(file, shape)).toMatchObject({ lines: [{ n: 3 }], bad: 3 });
  expect(readFileSync(file, "utf8").endsWith('{"n":3}\n')).toBe(true);
});
