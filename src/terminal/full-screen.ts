/** The rows of a whole terminal, and the cursor's place on it if it is visible. */
export interface Picture {
  readonly rows: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** The alternate screen of a terminal. */
export interface FullScreen {
  /** Draws a picture; unchanged rows are not sent again. */
  draw(picture: Picture): void;
  /** Draws every row at the next call, for example after a resize. */
  forget(): void;
  /** Returns to the usual screen. */
  close(): void;
}

/** Turns wrapping off, so that a character that is wider than expected does not move other rows. */
const OPEN = "\x1b[?1049h\x1b[?7l\x1b[H\x1b[2J";
const CLOSE = "\x1b[?7h\x1b[?25h\x1b[?1049l";
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";

/** Opens the alternate screen. @param out writes to the terminal */
export function openFullScreen(out: (text: string) => void): FullScreen {
  let drawn: readonly string[] | undefined;
  out(OPEN);
  return {
    draw({ rows, cursor }) {
      const before = drawn ?? [];
      const changed = rows.map((row, i) => (row === before[i] ? "" : `${at(i, 0)}\x1b[0m\x1b[K${row}`));
      const rest = before.length > rows.length || drawn === undefined ? `${at(rows.length, 0)}\x1b[J` : "";
      const place = cursor === undefined ? "" : `${at(cursor.row, cursor.column)}${SHOW_CURSOR}`;
      // Clear the rest first: if the rows fill the screen, its position is the last row.
      out(`${HIDE_CURSOR}${rest}${changed.join("")}${place}`);
      drawn = rows;
    },
    forget() {
      drawn = undefined;
    },
    close: () => out(CLOSE),
  };
}

function at(row: number, column: number): string {
  return `\x1b[${row + 1};${column + 1}H`;
}
