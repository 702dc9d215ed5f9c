import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { shortened } from "../../src/text/characters/cut-text.ts";
import { MIXED } from "./mixed-team.ts";
import type { Result, Row } from "./rows/row.ts";

/** The results of one program. */
export interface Column {
  readonly id: string;
  readonly version: string;
  readonly results: readonly Result[];
}

/** A column of an earlier table. */
export interface FormerColumn extends Omit<Column, "id"> {
  /** As {@link titleOf} returns it. */
  readonly title: string;
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

const CELL = /^([✓✗–])([⁰¹²³⁴⁵⁶⁷⁸⁹]*)$/;
const MIXED_LINE = /^The mixed team of ([\d-]+): ([✓✗]) (.*?) \((.*)\)\.$/m;

/** Reads the columns of the table in the marked section of a Markdown file. Leaves out rows with an unknown text. */
export function formerColumns(file: string, rows: Texts): readonly FormerColumn[] {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const section = text.slice(text.indexOf(BEGIN), Math.max(0, text.indexOf(END)));
  const notes = new Map(
    [...section.matchAll(/^- ([⁰¹²³⁴⁵⁶⁷⁸⁹]+) (.*)$/gm)].map(([, at = "", note = ""]) => [
      at,
      note.replaceAll("\\|", "|"),
    ]),
  );
  const lines = section.split("\n").filter((line) => line.startsWith("| "));
  const cellsOf = (line: string): string[] =>
    line
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim());
  const [titles = [], ...body] = lines.map(cellsOf);
  const dates = body.find(([first]) => first === "checked on") ?? [];
  const columns = titles.slice(1).map((title, at): FormerColumn => {
    const results = body.flatMap(([first, ...cells]): Result[] => {
      const row = rows.find((one) => one.text === first);
      const [, mark, number = ""] = CELL.exec(cells[at] ?? "") ?? [];
      if (row === undefined || (mark !== "✓" && mark !== "✗" && mark !== "–")) return [];
      const note = notes.get(number);
      const own = note === undefined ? {} : { note };
      return [{ row: row.id, text: row.text, mark, ...own, ms: 0, date: dates[at + 1] ?? "" }];
    });
    return { title, version: title.split(" ").at(-1) ?? "", results };
  });
  const [, date, mark, what, note] = MIXED_LINE.exec(section) ?? [];
  if (date === undefined || what === undefined || note === undefined) return columns;
  const result = { row: MIXED, text: what, note, ms: 0, date } as const;
  const team: Result = { ...result, mark: mark === "✓" ? "✓" : "✗" };
  return [...columns, { title: MIXED, version: "", results: [team] }];
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
  const note = resultOf(column, id)?.note?.replaceAll(/\s+/g, " ");
  // The error of a failure without a known reason can contain a whole screen.
  return note === undefined ? undefined : shortened(note, MAX_NOTE).replaceAll("|", "\\|");
}

/** Maximum characters of a note. */
const MAX_NOTE = 160;

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
  // For a result of an earlier table, only the days of its column are known.
  const dates = results.flatMap(({ date }) => date.split(" to ")).sort();
  const [first = "", last = ""] = [dates[0], dates.at(-1)];
  return first === last ? first : `${first} to ${last}`;
}

const resultOf = ({ results }: Column, id: string): Result | undefined =>
  results.find(({ row }) => row === id);

/** Returns the name of the program with the version that was checked, or `mixed`. */
export function titleOf({ id, version }: Pick<Column, "id" | "version">): string {
  return id === MIXED ? MIXED : `${id.replace(/-(latest|[\d.]+)$/, "")} ${version}`;
}
