import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { appendJsonLines, jsonLinesBackwards, readJsonLines } from "../../../src/store/jsonl.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const shape = z.object({ n: z.number() });

test("readJsonLines › returns lines in order, and continues at the last offset", () => {
  const file = join(temporaryDirectory(), "j.jsonl");
  appendJsonLines(file, [{ n: 1 }]);
  const first = readJsonLines(file, shape);
  expect(first.lines).toEqual([{ n: 1 }]);
  appendJsonLines(file, [{ n: 2 }]);
  expect(readJsonLines(file, shape, first.offset).lines).toEqual([{ n: 2 }]);
});

test("readJsonLines › returns no lines for a missing file", () => {
  expect(readJsonLines(join(temporaryDirectory(), "none"), shape)).toEqual({ lines: [], offset: 0, bad: 0 });
});

test("readJsonLines › leaves a half-written last line for later, and loses no line after it", () => {
  const file = join(temporaryDirectory(), "j.jsonl");
  writeFileSync(file, '{"n":1}\n{"n":');
  expect(readJsonLines(file, shape)).toEqual({ lines: [{ n: 1 }], offset: 8, bad: 0 });
  appendJsonLines(file, [{ n: 2 }]);
  expect(readJsonLines(file, shape)).toMatchObject({ lines: [{ n: 1 }, { n: 2 }], bad: 1 });
});

test("readJsonLines › skips and counts invalid lines", () => {
  const file = join(temporaryDirectory(), "j.jsonl");
  writeFileSync(file, 'rubbish\n{"n":"x"}\n\n');
  appendFileSync(file, Buffer.concat([Buffer.from('{"n":"é').subarray(0, 7), Buffer.from("\n")]));
  appendJsonLines(file, [{ n: 3 }]);
  expect(readJsonLines(file, shape)).toMatchObject({ lines: [{ n: 3 }], bad: 3 });
  expect(readFileSync(file, "utf8").endsWith('{"n":3}\n')).toBe(true);
});

describe("jsonLinesBackwards", () => {
  const back = (file: string, options = {}) =>
    [...jsonLinesBackwards(file, shape, options)].map(({ n }) => n);

  test("yields lines from newest to oldest, for any line length and block boundary", () => {
    const file = join(temporaryDirectory(), "j.jsonl");
    // Shorter and longer than a block; some line ends fall on block boundaries.
    for (const length of [1, 50, 4_087, 8_183, 8_184, 20_000]) {
      const lines = Array.from({ length: 40 }, (_, n) => ({ n, text: "é".repeat(n % 3 === 0 ? length : 3) }));
      writeFileSync(file, "");
      appendJsonLines(file, lines);
      expect(back(file)).toEqual(lines.map(({ n }) => n).reverse());
    }
  });

  test("reads no more than it needs, and never beyond its limit", () => {
    const file = join(temporaryDirectory(), "j.jsonl");
    writeFileSync(file, `${"x".repeat(100_000)}\n`);
    appendJsonLines(file, [{ n: 1 }, { n: 2 }]);
    expect(back(file, { maxBytes: 10_000 })).toEqual([2, 1]);
    expect(back(file, { maxBytes: 10 })).toEqual([2]);
    expect(back(file, { maxBytes: 3 })).toEqual([]);
    for (const { n } of jsonLinesBackwards(file, shape)) {
      expect(n).toBe(2);
      break;
    }
  });

  test("skips a half-written last line, even a long one, and invalid lines", () => {
    const file = join(temporaryDirectory(), "j.jsonl");
    writeFileSync(file, `{"n":1}\nrubbish\n\n{"n":2}\n{"n":3,"text":"${"x".repeat(30_000)}`);
    expect(back(file)).toEqual([2, 1]);
    writeFileSync(file, '{"n":1}');
    expect(back(file)).toEqual([]);
    expect(back(join(file, "..", "none"))).toEqual([]);
  });

  test("yields only lines that contain the wanted text", () => {
    const file = join(temporaryDirectory(), "j.jsonl");
    appendJsonLines(file, [
      { n: 1, to: "a" },
      { n: 2, to: "b" },
    ]);
    expect(back(file, { contains: '"to":"a"' })).toEqual([1]);
  });
});
