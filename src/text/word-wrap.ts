import { cells, displayWidth } from "./cell-width.ts";

/** Breaks a row at spaces into parts of at most `width` cells; a longer single word is left to the terminal. */
export function wrapRow(row: string, width: number): string[] {
  const flow = wordFlow(() => width);
  return `${flow.push(row)}${flow.end()}`.split("\n");
}

/** Like {@link wrapRow}, and breaks longer words too: the rows are those of a terminal. */
export function brokenRows(row: string, width: number): string[] {
  return wrapRow(row, width).flatMap((part) => {
    if (displayWidth(part) <= width) return [part];
    const rows = [""];
    let used = 0;
    for (const cell of cells(part)) {
      if (used > 0 && used + cell.width > width) {
        rows.push("");
        used = 0;
      }
      rows[rows.length - 1] += cell.char;
      used += cell.width;
    }
    return rows;
  });
}

/** Wraps text that comes in pieces; holds the last word back, since the next piece may continue it. */
interface WordFlow {
  /** @returns the text that can be shown now */
  push(piece: string): string;
  /** @returns the rest; the next piece begins a new line */
  end(): string;
}

/** @param cellsOf returns the cells of a word; default: the cells of its characters */
export function wordFlow(width: () => number, cellsOf: (word: string) => number = displayWidth): WordFlow {
  let column = 0;
  let gap = "";
  let word = "";
  const settle = (): string => {
    if (word === "") return "";
    const cells = cellsOf(word);
    const breaks = column > 0 && column + gap.length + cells > width();
    const text = breaks ? `\n${word}` : `${gap}${word}`;
    column = breaks ? cells : column + gap.length + cells;
    gap = "";
    word = "";
    return text;
  };
  return {
    push(piece) {
      let text = "";
      for (const [token] of piece.matchAll(/\n|[^\S\n]+|\S+/g)) {
        if (/^\S/.test(token)) {
          word += token;
          continue;
        }
        text += settle();
        if (token !== "\n") {
          gap += token;
          continue;
        }
        text += "\n";
        column = 0;
        gap = "";
      }
      return text;
    },
    end() {
      const text = settle();
      column = 0;
      gap = "";
      return text;
    },
  };
}
