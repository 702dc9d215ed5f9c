import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { byNumbers } from "./install.ts";
import { MIXED } from "./mixed-team.ts";
import { PROGRAMS } from "./programs.ts";
import type { Result } from "./rows/row.ts";
import { type Column, type FormerColumn, titleOf } from "./table.ts";

/** Keeps the results of a run for a later table. They replace the results of the same rows and version. */
export function keepResults(cache: string, { id, version, results }: Column): void {
  if (results.length === 0) return;
  const file = join(directoryOf(cache), `${id}@${version}.json`);
  const before = existsSync(file) ? read(file).results : [];
  const others = before.filter(({ row }) => !results.some((result) => result.row === row));
  const column: Column = { id, version, results: [...others, ...results] };
  writeFileSync(file, JSON.stringify(column, undefined, 2));
}

/**
 * Returns the kept results: the programs in their order, the versions of each with the oldest first. A row without a result was not
 * checked with that version.
 */
export function keptColumns(cache: string): readonly Column[] {
  return ordered(readdirSync(directoryOf(cache)).map((name) => read(join(directoryOf(cache), name))));
}

/** Whether a row failed, and `knownFailures` does not say why. */
export const isUnexplained = ({ mark, error }: Result): boolean => mark === "✗" && error === undefined;

/** Returns the ids of the rows that need no other check with this version of a program. */
export function checkedRows(cache: string, id: string, version: string): readonly string[] {
  const file = join(directoryOf(cache), `${id}@${version}.json`);
  if (!existsSync(file)) return [];
  const { results } = read(file);
  return results.filter((result) => !isUnexplained(result)).map(({ row }) => row);
}

/**
 * Adds the results of an earlier table, whose cache may be lost: columns of other versions, and rows without a newer result.
 */
export function withFormer(kept: readonly Column[], former: readonly FormerColumn[]): readonly Column[] {
  const columns = new Map(kept.map((column) => [titleOf(column), column]));
  for (const { title, version, results } of former) {
    const known = columns.get(title);
    const id = known?.id ?? idOf(title, version);
    if (id === undefined) continue;
    const own = known?.results ?? [];
    const others = results.filter(({ row }) => !own.some((result) => result.row === row));
    columns.set(title, { id, version, results: [...own, ...others] });
  }
  return ordered([...columns.values()]);
}

/** Returns the id of a program from the title of its column. A program with a fixed version wins over the latest one. */
function idOf(title: string, version: string): string | undefined {
  if (title === MIXED) return MIXED;
  const alike = PROGRAMS.filter(({ id }) => titleOf({ id, version }) === title);
  const fixed = alike.find((program) => program.version === version);
  return (fixed ?? alike.find((program) => !/^\d/.test(program.version)))?.id;
}

function ordered(columns: readonly Column[]): readonly Column[] {
  const order = [...PROGRAMS.map(({ id }) => id), MIXED];
  const rank = ({ id }: Column): number => order.indexOf(id);
  return columns
    .filter((column) => rank(column) >= 0)
    .sort((a, b) => rank(a) - rank(b) || byNumbers(a.version, b.version))
    .map(withReasons);
}

function directoryOf(cache: string): string {
  const directory = join(cache, "results");
  mkdirSync(directory, { recursive: true });
  return directory;
}

const read = (file: string): Column => JSON.parse(readFileSync(file, "utf8")) as Column;

/** Returns a kept column with the current wording of the reasons in `PROGRAMS`. */
function withReasons(column: Column): Column {
  const { notApplicable = {}, knownFailures = {} } = PROGRAMS.find(({ id }) => id === column.id) ?? {};
  const results = column.results.map((result): Result => {
    const reasons = { "–": notApplicable, "✗": knownFailures, "✓": undefined }[result.mark];
    const note = reasons?.[result.row] ?? result.note;
    return note === undefined ? result : { ...result, note };
  });
  return { ...column, results };
}
