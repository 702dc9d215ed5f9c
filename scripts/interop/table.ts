import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { MIXED } from "./mixed-team.ts";
import type { Result, Row } from "./rows/row.ts";

/** The results of one program. */
export interface Column {
  readonly id: string;
  readonly version: string;
  readonly results: readonly Result[];
}

type Texts = readonly Pick<Row, "id" | "text">[];

const BEGIN = "<!-- scripts/interop begins -->";
const END = "<!-- scripts/interop ends -->";

/** Formats the table for a terminal. */
export function printed(rows: Texts, all: readonly Column[]): string {
  const columns = all.filter(({ id }) => id !== MIXED);
  const notes = notesOf(rows, columns);
  const widths = columns.map((column) => titleOf(column).length + 2);
  const width = Math.max(...rows.map(({ text }) => text.length)) + 2;
  const head = `${" ".repeat(width)}${columns.map((column, at) => titleOf(column).padEnd(widths[at] ?? 0)).join("")}`;
  const lines = rows.flatMap(({ id, text }) => {
    const cells = columns.map((column) => cellOf(column, id, notes));
    if (cells.every((cell) => cell === "")) return [];
    return [`${text.padEnd(width)}${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("")}`];
  });
  const below = [...notes.map((note, at) => `${numeral(at + 1)} ${note}`), ...mixedLines(all)];
  return ["", head, ...lines, "", ...below.map((line) => `  ${line}`)].join("\n");
}

/** Replaces the marked section of a Markdown file, or adds it at the end. */
export function writeSection(file: string, rows: Texts, columns: readonly Column[]): void {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const section = `${BEGIN}\n\n${markdown(rows, columns)}\n${END}`;
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  const whole =
    begin >= 0 && end > begin
      ? text.slice(0, begin) + section + text.slice(end + END.length)
      : `${text.trimEnd()}\n\n${section}\n`;
  writeFileSync(file, whole);
}

function markdown(rows: Texts, all: readonly Column[]): string {
  const columns = all.filter(({ id }) => id !== MIXED);
  const notes = notesOf(rows, columns);
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const table = [
    line(["", ...columns.map(titleOf)]),
    line(["---", ...columns.map(() => "---")]),
    ...rows.map(({ id, text }) => line([text, ...columns.map((column) => cellOf(column, id, notes))])),
    line(["checked on", ...columns.map(datesOf)]),
  ];
  const numbered = notes.map((note, at) => `- ${numeral(at + 1)} ${note}`);
  const mixed = mixedLines(all).flatMap((text) => ["", text]);
  return [...table, "", ...numbered, ...mixed, ""].join("\n");
}

/** Returns each note once, in the order of the rows. */
function notesOf(rows: Texts, columns: readonly Column[]): readonly string[] {
  const notes = rows.flatMap(({ id }) => columns.flatMap((column) => noteOf(column, id) ?? []));
  return [...new Set(notes)];
}

/** Returns a mark with the number of its note. */
function cellOf(column: Column, id: string, notes: readonly string[]): string {
  const result = resultOf(column, id);
  const note = noteOf(column, id);
  return `${result?.mark ?? ""}${note === undefined ? "" : numeral(notes.indexOf(note) + 1)}`;
}

function noteOf(column: Column, id: string): string | undefined {
  return resultOf(column, id)?.note?.replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
}

/** Formats a number as superscript. */
function numeral(value: number): string {
  return `${value}`.replaceAll(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)] ?? "");
}

/** Returns the line about the mixed team. */
function mixedLines(columns: readonly Column[]): string[] {
  const { results = [] } = columns.find(({ id }) => id === MIXED) ?? {};
  return results.map(
    ({ mark, text, note, date }) => `The mixed team of ${date}: ${mark} ${text} (${note ?? ""}).`,
  );
}

/** Returns the first and the last day of the results of a column. */
function datesOf({ results }: Column): string {
  const dates = results.map(({ date }) => date).sort();
  const [first = "", last = ""] = [dates[0], dates.at(-1)];
  return first === last ? first : `${first} to ${last}`;
}

const resultOf = ({ results }: Column, id: string): Result | undefined =>
  results.find(({ row }) => row === id);

/** The name of the program with the version that was checked. */
function titleOf({ id, version }: Column): string {
  return `${id.replace(/-(latest|[\d.]+)$/, "")} ${version}`;
}
