import { displayWidth } from "./terminal-text.ts";

/** Breaks a row at blanks, so that no part is wider than `width` cells but a single long word, which the terminal cuts. */
export function wrapRow(row: string, width: number): string[] {
  const flow = wordFlow(() => width);
  return `${flow.push(row)}${flow.end()}`.split("\n");
}

/** Text that comes in pieces, broken at blanks as it comes: the word that may go on is held back. */
interface WordFlow {
  /** What can be shown by now. */
  push(piece: string): string;
  /** The rest; the next piece begins a line. */
  end(): string;
}

export function wordFlow(width: () => number): WordFlow {
  let column = 0;
  let gap = "";
  let word = "";
  const settle = (): string => {
    if (word === "") return "";
    const cells = displayWidth(word);
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
