import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Figure } from "../../../scripts/bench/figure.ts";
import { recordedGoal, recordLower } from "../../../scripts/bench/recorded-bytes.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const FILE = "scripts/bench/loaded-code.json";

/** Returns a checkout with these recorded bytes. */
function recorded(bytes: object): string {
  const checkout = temporaryDirectory();
  mkdirSync(join(checkout, "scripts/bench"), { recursive: true });
  writeFileSync(join(checkout, FILE), JSON.stringify(bytes));
  return checkout;
}

it("recordLower › lowers the figures that have decreased, and neither raises nor adds a figure", () => {
  const checkout = recorded({ send: 10, inbox: 10 });
  const figures: Figure[] = [
    { what: "send", value: 9, unit: "bytes" },
    { what: "inbox", value: 11, unit: "bytes" },
    { what: "status", value: 1, unit: "bytes" },
  ];
  expect(recordLower(figures, checkout)).toEqual(["send"]);
  expect(readFileSync(join(checkout, FILE), "utf8")).toBe('{\n  "send": 9,\n  "inbox": 10\n}\n');
});

it("recordedGoal › is missed by a value more than a tenth above the recorded bytes, and is a count", () => {
  const checkout = recorded({ send: 1_000 });
  expect(recordedGoal("send", 1_100, checkout)).toEqual({
    text: "≤ 1.1 × 1,000 bytes",
    met: true,
    isCount: true,
  });
  expect(recordedGoal("send", 1_101, checkout).met).toBe(false);
  expect(() => recordedGoal("inbox", 1, checkout)).toThrow('loaded-code.json has no figure "inbox".');
});
