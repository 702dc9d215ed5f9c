import { displayWidth } from "../../../src/text/cell-width.ts";

/** A terminal of unlimited height that understands the output of a pane: text, line ends, and a few cursor sequences. */
export interface Screen {
  write(text: string): void;
  /** The rows, without trailing spaces. */
  rows(): readonly string[];
  readonly row: number;
  readonly column: number;
}

/** @throws Error for a control sequence that no pane should write */
export function screen(): Screen {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;
  let saved = { row, column };
  const put = (char: string): void => {
    const cells = displayWidth(char);
    if (cells === 0) return;
    const line = rows[row] ?? [];
    rows[row] = line;
    while (line.length < column) line.push(" ");
    line[column] = char;
    for (let i = 1; i < cells; i += 1) line[column + i] = "";
    column += cells;
  };
  const sequence = (digits: string | undefined, letter: string): void => {
    const count = Number(digits || 1);
    if (letter === "A") row = Math.max(0, row - count);
    else if (letter === "B") row += count;
    else if (letter === "C") column += count;
    else if (letter === "K") rows[row]?.splice(column);
    else if (letter === "J") {
      rows[row]?.splice(column);
      rows.splice(row + 1);
    } else if (!"mhl".includes(letter)) throw new Error(`Unexpected control sequence: ${letter}`);
  };
  const cursor = (part: string): void => {
    if (part === "\x1b7") saved = { row, column };
    else ({ row, column } = saved);
  };
  return {
    write(text) {
      for (const [part, count, letter] of text.matchAll(/\x1b[78]|\x1b\[\??([\d;]*)([A-Za-z])|[\s\S]/gu)) {
        if (/^\x1b[78]$/.test(part)) cursor(part);
        else if (letter !== undefined) sequence(count, letter);
        else if (part === "\r") column = 0;
        else if (part === "\n") {
          row += 1;
          column = 0;
          rows[row] ??= [];
        } else put(part);
      }
    },
    rows: () => rows.map((line) => line.join("").trimEnd()),
    get row() {
      return row;
    },
    get column() {
      return column;
    },
  };
}
