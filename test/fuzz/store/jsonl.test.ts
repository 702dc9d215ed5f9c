import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { startOfLastLines } from "../../../src/os/files/lines.ts";
import { appendJsonLines, jsonLinesBackwards, readJsonLines } from "../../../src/store/jsonl.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { cases, corrupted, json } from "../../support/random/arbitraries.ts";

// Many cases, possibly on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const anything = z.unknown();
const line = fc.oneof(
  { weight: 5, arbitrary: json.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.constantFrom("", " ", "\r", "{", '{"a":"é😀') },
  // Longer than one read.
  { weight: 1, arbitrary: fc.nat({ max: 200_000 }).map((size) => JSON.stringify("ü".repeat(size))) },
);
const lines = fc.array(line, { maxLength: 6 }).map((all) => all.map((one) => `${one}\n`).join(""));

test("jsonLinesBackwards returns the lines of readJsonLines in reverse order", () => {
  const path = join(temporaryDirectory(), "j.jsonl");
  fc.assert(
    fc.property(fc.oneof(lines, corrupted(lines)), (text) => {
      writeFileSync(path, text);
      const forward = readJsonLines(path, anything).lines;
      expect([...jsonLinesBackwards(path, anything)]).toEqual(forward.toReversed());
    }),
    cases(2_000),
  );
});

test("startOfLastLines returns where the last lines of any file begin, page by page", () => {
  const path = join(temporaryDirectory(), "j.jsonl");
  fc.assert(
    fc.property(fc.oneof(lines, corrupted(lines)), fc.integer({ min: 1, max: 4 }), (text, count) => {
      writeFileSync(path, text);
      const bytes = readFileSync(path);
      const starts = [0, ...[...bytes.keys()].filter((at) => bytes[at] === 0x0a).map((at) => at + 1)];
      let end: number | undefined;
      for (let left = starts.length - 1; left > 0; left -= count) {
        end = startOfLastLines(path, count, end);
        expect(end).toBe(starts[Math.max(0, left - count)]);
      }
    }),
    cases(500),
  );
});

test("appendJsonLines to a journal that is cut at any byte keeps every complete line", () => {
  const path = join(temporaryDirectory(), "j.jsonl");
  const all = [{ id: "one" }, { id: "two", text: 'é😀 "}\n' }, { id: "three" }];
  const bytes = Buffer.from(all.map((value) => `${JSON.stringify(value)}\n`).join(""));
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const left = bytes.subarray(0, cut);
    writeFileSync(path, left);
    const whole = left.filter((byte) => byte === 0x0a).length;
    appendJsonLines(path, [{ id: "next" }]);
    const read = readJsonLines(path, anything);
    // A line that lacks only its line end is complete.
    const kept = read.lines.slice(0, -1);
    expect([whole, whole + 1]).toContain(kept.length);
    expect(kept).toEqual(all.slice(0, kept.length));
    expect(read.lines.at(-1)).toEqual({ id: "next" });
    expect(read.bad).toBeLessThanOrEqual(1);
    expect([...jsonLinesBackwards(path, anything)]).toEqual(read.lines.toReversed());
  }
});
