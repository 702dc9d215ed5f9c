import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { byNumbers } from "./install.ts";
import { MIXED } from "./mixed-team.ts";
import { PROGRAMS } from "./programs.ts";
import type { Result } from "./rows/row.ts";
import type { Column } from "./table.ts";

/** Keeps the results of a run for a later table. They replace those of the same rows and version. */
export function keepResults(cache: string, { id, version, results }: Column): void {
  if (results.length === 0) return;
  const file = join(directoryOf(cache), `${id}@${version}.json`);
  const before = existsSync(file) ? read(file).results : [];
  const others = before.filter(({ row }) => !results.some((result) => result.row === row));
  const column: Column = { id, version, results: [...others, ...results] };
  writeFileSync(file, JSON.stringify(column, undefined, 2));
}

/**
 * Returns the kept results: the programs in their order, the versions of each from the oldest. A row without a result was not checked
 * with that version.
 */
export function keptColumns(cache: string): readonly Column[] {
  const order = [...PROGRAMS.map(({ id }) => id), MIXED];
  const place = ({ id }: Column): number => order.indexOf(id);
  return readdirSync(directoryOf(cache))
    .map((name) => read(join(directoryOf(cache), name)))
    .filter((column) => place(column) >= 0)
    .sort((a, b) => place(a) - place(b) || byNumbers(a.version, b.version))
    .map(withReasons);
}

function directoryOf(cache: string): string {
  const directory = join(cache, "results");
  mkdirSync(directory, { recursive: true });
  return directory;
}

const read = (file: string): Column => JSON.parse(readFileSync(file, "utf8")) as Column;

/** Returns a kept column with the reasons as `PROGRAMS` words them now. */
function withReasons(column: Column): Column {
  const { notApplicable = {}, knownFailures = {} } = PROGRAMS.find(({ id }) => id === column.id) ?? {};
  const results = column.results.map((result): Result => {
    const reasons = { "–": notApplicable, "✗": knownFailures, "✓": undefined }[result.mark];
    const note = reasons?.[result.row] ?? result.note;
    return note === undefined ? result : { ...result, note };
  });
  return { ...column, results };
}
