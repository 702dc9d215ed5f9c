import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatJson } from "../../src/os/files/atomic-write.ts";
import type { Figure } from "./figure.ts";

/** The recorded bytes of loaded code by figure, relative to the checkout, which is the working directory. */
const FILE = join("scripts", "bench", "loaded-code.json");

export type RecordedBytes = Readonly<Record<string, number>>;

export function recordedBytes(): RecordedBytes {
  return JSON.parse(readFileSync(FILE, "utf8")) as RecordedBytes;
}

/** Writes the figures that are below their recorded bytes. @returns their names */
export function recordLower(figures: readonly Figure[]): readonly string[] {
  const before = recordedBytes();
  const lower = figures.filter(({ what, value }) => value < (before[what] ?? 0));
  if (lower.length === 0) return [];
  const after = { ...before, ...Object.fromEntries(lower.map(({ what, value }) => [what, value])) };
  writeFileSync(FILE, `${formatJson(after)}\n`);
  return lower.map(({ what }) => what);
}
