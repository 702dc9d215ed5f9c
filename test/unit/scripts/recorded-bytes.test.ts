import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Figure } from "../../../scripts/bench/figure.ts";
import { recordLower } from "../../../scripts/bench/recorded-bytes.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

/** Records bytes in a checkout of the test, which becomes the working directory. @returns the path of the record */
function recorded(bytes: object): string {
  const checkout = temporaryDirectory();
  const file = join(checkout, "scripts/bench/loaded-code.json");
  mkdirSync(join(checkout, "scripts/bench"), { recursive: true });
  writeFileSync(file, '{"send": 10, "inbox": 10}');
  const figures: Figure[] = [
    { what: "send", value: 9, unit: "bytes" },
    { what: "inbox", value: 11, unit: "bytes" },
    { what: "status", value: 1, unit: "bytes" },
  ];
  expect(recordLower(figures, checkout)).toEqual(["send"]);
  expect(readFileSync(file, "utf8")).toBe('{\n  "send": 9,\n  "inbox": 10\n}\n');
});

it("recordedGoal › is missed from a tenth above the recorded bytes on, and counts", () => {
  recorded({ send: 1_000 });
  expect(recordedGoal("send", 1_100)).toEqual({ text: "≤ 1.1 × 1,000 bytes", met: true, isCount: true });
  expect(recordedGoal("send", 1_101).met).toBe(false);
  expect(() => recordedGoal("inbox", 1)).toThrow('loaded-code.json has no figure "inbox".');
});
