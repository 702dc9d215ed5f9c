import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROWS } from "../../../scripts/interop/check-program.ts";
import { withFormer } from "../../../scripts/interop/results.ts";
import type { Result } from "../../../scripts/interop/rows/row.ts";
import { formerColumns, writeSection } from "../../../scripts/interop/table.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const TEXTS = [
  { id: "a", text: "row a" },
  { id: "b", text: "row b" },
];
const result = (row: string, mark: Result["mark"], more: Partial<Result> = {}): Result => ({
  ...{ row, text: `row ${row}`, mark, ms: 0, date: "2026-11-24" },
  ...more,
});

test("the table of the interop check › is read back as it was written", () => {
  const file = join(temporaryDirectory(), "table.md");
  const failed = result("b", "✗", { note: "no | field", date: "2026-11-26" });
  const team = { ...result("mixed", "✓", { note: "codex 0.169.0 (and others)" }), text: "one team" };
  writeSection(file, TEXTS, [
    { id: "codex", version: "0.169.0", results: [result("a", "✓"), failed] },
    { id: "qwen-latest", version: "0.24.4", results: [result("b", "–")] },
    { id: "mixed", version: "", results: [team] },
  ]);
  const date = "2026-11-24 to 2026-11-26";
  expect(formerColumns(file, TEXTS)).toEqual([
    {
      title: "codex 0.169.0",
      version: "0.169.0",
      results: [result("a", "✓", { date }), { ...failed, date }],
    },
    { title: "qwen 0.24.4", version: "0.24.4", results: [result("b", "–")] },
    { title: "mixed", version: "", results: [team] },
  ]);
});

test("the table of the interop check › keeps the cells and columns that a run leaves out", () => {
  const kept = [{ id: "codex", version: "0.169.0", results: [result("a", "✗", { date: "2026-11-30" })] }];
  const former = [
    { title: "codex 0.169.0", version: "0.169.0", results: [result("a", "✓"), result("b", "✓")] },
    { title: "claude 2.1.34", version: "2.1.34", results: [result("a", "✓")] },
    { title: "claude 2.1.330", version: "2.1.330", results: [result("a", "✓")] },
    { title: "unknown 1.0.0", version: "1.0.0", results: [result("a", "✓")] },
  ];
  const marks = withFormer(kept, former).map(({ id, results }) => [id, ...results.map(({ mark }) => mark)]);
  expect(marks).toEqual([
    ["claude-2.1.34", "✓"],
    ["claude-latest", "✓"],
    ["codex", "✗", "✓"],
  ]);
});

test("the table of the interop check › loses nothing of the docs without a new result", () => {
  const file = join(temporaryDirectory(), "mixed-company.md");
  copyFileSync(join(import.meta.dirname, "../../../docs/mixed-company.md"), file);
  const marks = (): string[] => readFileSync(file, "utf8").match(/[✓✗–][⁰¹²³⁴⁵⁶⁷⁸⁹]* \|/g) ?? [];
  const before = marks().length;
  writeSection(file, ROWS, withFormer([], formerColumns(file, ROWS)));
  expect([before > 300, marks().length]).toEqual([true, before]);
});
