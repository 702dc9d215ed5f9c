import { cutToWidth, displayWidth } from "../../text/cell-width.ts";
import { borderAfter, borderBefore, graphemes } from "../../text/characters/graphemes.ts";
import { type Styler, TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import type { Suggestions } from "./suggestions.ts";
import type { EditedLine } from "./typed.ts";

/** The rows of the input line, and where its cursor is. */
export interface InputRows {
  readonly rows: readonly string[];
  /** Index of the cursor's row, and its column. */
  readonly row: number;
  readonly column: number;
}

interface InputRowsOptions {
  readonly width: number;
  /** Maximum rows of the typed text, and of the list of suggestions. */
  readonly maxRows: number;
  readonly styleText: Styler;
  /** Before the first row, for example `plan ›`. */
  readonly prompt: string;
}

const GAP = " ";
/** Code units that are laid out on each side of the cursor, for each cell that is shown. */
const UNITS_PER_CELL = 4;

/** Lays out the typed text, broken at the last column, in the rows around its cursor. */
export function inputRows(edited: EditedLine, options: InputRowsOptions): InputRows {
  const { width, maxRows, styleText } = options;
  const prompt = edited.search === undefined ? options.prompt : searchPrompt(edited.search);
  const head = cutToWidth(prompt, Math.max(1, width - 4));
  const indent = displayWidth(head) + GAP.length;
  const room = Math.max(2, width - indent - 1);
  const { lines, row, column } = layOut(edited, room, maxRows);
  const first = Math.max(0, Math.min(row - maxRows + 1, lines.length - maxRows));
  const shown = lines.slice(first, first + maxRows);
  const rows = shown.map((line, i) =>
    i === 0 ? `${styleText("bold", head)}${GAP}${line}` : `${" ".repeat(indent)}${line}`,
  );
  const listed = suggestionRows(edited.suggestions, options);
  return { rows: [...rows, ...listed], row: row - first, column: indent + column };
}

function searchPrompt({ query, isFound }: NonNullable<EditedLine["search"]>): string {
  return `${isFound ? "search" : "not found:"} ${gridText(query)} ›`;
}

/** Breaks the text near the cursor into rows. */
function layOut(
  { text, cursor }: Pick<EditedLine, "text" | "cursor">,
  room: number,
  maxRows: number,
): { readonly lines: readonly string[]; readonly row: number; readonly column: number } {
  const reach = UNITS_PER_CELL * room * maxRows;
  const from = borderAfter(text, cursor - reach);
  const near = text.slice(from, borderBefore(text, cursor + reach));
  const lines: string[] = [""];
  let used = 0;
  let at = { row: 0, column: 0 };
  const breakRow = (): void => {
    lines.push("");
    used = 0;
  };
  let unit = from;
  for (const cluster of clustersOf(near)) {
    const part = cluster === "\n" ? "" : shownCluster(cluster);
    const cells = displayWidth(part);
    // A character that does not fit takes a cursor on it to the next row.
    if (used + cells > room) breakRow();
    if (unit === cursor) at = { row: lines.length - 1, column: used };
    if (cluster === "\n") breakRow();
    lines[lines.length - 1] += part;
    used += cells;
    unit += cluster.length;
  }
  if (unit === cursor) at = { row: lines.length - 1, column: used };
  return { lines, ...at };
}

function clustersOf(text: string): Iterable<string> {
  if (/^[\x20-\x7e\n]*$/.test(text)) return text;
  return graphemes(text);
}

/** Returns a character that a grid of cells can show: a space for whitespace, a replacement character for a control character. */
function shownCluster(cluster: string): string {
  if (/^[\x20-\x7e]$/.test(cluster)) return cluster;
  return /^\s+$/.test(cluster) ? " " : gridText(cluster) || "\ufffd";
}

function suggestionRows(
  suggestions: Suggestions | undefined,
  { width, maxRows, styleText }: InputRowsOptions,
): readonly string[] {
  if (suggestions === undefined) return [];
  const { items, selected } = suggestions;
  // The count takes a row; in a very low pane, all rows are for the suggestions.
  const isCounted = items.length > maxRows && maxRows > 2;
  const room = maxRows - (isCounted ? 1 : 0);
  const first = Math.max(0, Math.min(selected - Math.floor(room / 2), items.length - room));
  const rows = items.slice(first, first + room).map(({ label, note = "" }, i) => {
    const isSelected = first + i === selected;
    const name = `${isSelected ? "›" : " "} ${gridText(label)}`;
    const text = cutToWidth(note === "" ? name : `${name.padEnd(14)} ${gridText(note)}`, width - 1);
    return styleText(isSelected ? "bold" : TONE.quiet, text);
  });
  const count = cutToWidth(`  ${selected + 1} of ${items.length}`, width - 1);
  return isCounted ? [...rows, styleText(TONE.quiet, count)] : rows;
}
