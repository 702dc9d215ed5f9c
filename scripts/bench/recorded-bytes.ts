import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatJson } from "../../src/os/files/atomic-write.ts";
import { countAtMost, type Figure, type Goal } from "./figure.ts";
import { format } from "./table.ts";

/** The recorded bytes of loaded code by figure, relative to the checkout. */
const FILE = join("scripts", "bench", "loaded-code.json");

/** The limit, as a multiple of the recorded bytes: a small feature stays below it, a heavy package does not. */
const ROOM = 1.1;

type RecordedBytes = Readonly<Record<string, number>>;

/** @param checkout default: the working directory */
function recordedBytes(checkout = ""): RecordedBytes {
  return JSON.parse(readFileSync(join(checkout, FILE), "utf8")) as RecordedBytes;
}

/** Returns the goal of a figure, a tenth above its recorded bytes. @throws Error if no bytes are recorded for it */
export function recordedGoal(what: string, bytes: number, checkout = ""): Goal {
  const recorded = recordedBytes(checkout)[what];
  if (recorded === undefined) throw new Error(`loaded-code.json has no figure "${what}".`);
  return countAtMost(recorded * ROOM, bytes, `≤ ${ROOM} × ${format(recorded, "bytes")}`);
}

/** Writes the figures that are below their recorded bytes. @returns their names */
export function recordLower(figures: readonly Figure[], checkout = ""): readonly string[] {
  const before = recordedBytes(checkout);
  const lower = figures.filter(({ what, value }) => value < (before[what] ?? 0));
  if (lower.length === 0) return [];
  const after = { ...before, ...Object.fromEntries(lower.map(({ what, value }) => [what, value])) };
  writeFileSync(join(checkout, FILE), `${formatJson(after)}\n`);
  return lower.map(({ what }) => what);
}
