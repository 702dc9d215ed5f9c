import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { recordLower } from "../../../scripts/bench/recorded-bytes.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

it("recordLower › lowers the figures that have become fewer, and raises or adds none", () => {
  const checkout = temporaryDirectory();
  const file = join(checkout, "scripts/bench/loaded-code.json");
  mkdirSync(join(checkout, "scripts/bench"), { recursive: true });
  writeFileSync(file, '{"send": 10, "inbox": 10}');
  const before = process.cwd();
  process.chdir(checkout);
  onTestFinished(() => process.chdir(before));
  const figures = Object.entries({ send: 9, inbox: 11, status: 1 });
  expect(recordLower(figures.map(([what, value]) => ({ what, value, unit: "bytes" })))).toEqual(["send"]);
  expect(readFileSync(file, "utf8")).toBe('{\n  "send": 9,\n  "inbox": 10\n}\n');
});
