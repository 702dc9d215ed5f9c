import { displayWidth } from "../../../src/text/cell-width.ts";

/** A terminal of unlimited height that understands what a pane writes: text, line ends, and a few cursor sequences. */
export interface Screen {
  write(text: string): void;
  /** The rows, without blanks at their ends. */
  rows(): readonly string[];
  readonly row: number;
  readonly column: number;
}

/** @throws Error for a control sequence that no pane should write */
export function screen(): Screen {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;
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
  const sequence = (count: number, letter: string): void => {
    if (letter === "A") row = Math.max(0, row - count);
    else if (letter === "C") column += count;
    else if (letter === "K") rows[row]?.splice(column);
    else if (letter === "J") {
      rows[row]?.splice(column);
      rows.splice(row + 1);
    } else if (!"mhl".includes(letter)) throw new Error(`unexpected sequence: ${letter}`);
  };
  return {
    write(text) {
      for (const [part, count, letter] of text.matchAll(/\x1b\[\??([\d;]*)([A-Za-z])|[\s\S]/gu)) {
        if (letter !== undefined)
          sequence(Number(count || (letter === "J" || letter === "K" ? 0 : 1)), letter);
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
