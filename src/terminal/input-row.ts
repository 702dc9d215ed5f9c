import { displayWidth } from "../text/cell-width.ts";
import { styler, TONE } from "../text/style.ts";
import { gridText } from "../text/terminal-text.ts";
import { type LineEditor, lineEditor, PASTES_OFF, PASTES_ON } from "./line-editor.ts";

/**
 * The last rows of a pane: the line that is being typed, and entered lines that wait for the running turn. The agent's output
 * goes above them. They exist only while there are such lines; no other row of the pane is ever redrawn.
 */
export interface TypingRow {
  /** Holds the typed line. */
  readonly editor: LineEditor;
  /** Writes output of the agent above the rows. */
  write(text: string): void;
  /** Redraws after a change of the line. Passes the control sequences for pasting on to the terminal. */
  echo(text: string): void;
  /** Shows an entered line that waits for the running turn. */
  hold(line: string): void;
  /** Removes that line. */
  release(line: string): void;
  /** Removes the rows while another view has the terminal, until {@link resume}. */
  pause(): void;
  resume(): void;
}

interface TypingRowOptions {
  /** Writes to the terminal. */
  out(text: string): void;
  /** Current columns of the terminal. */
  width(): number;
  readonly plain: boolean;
}

/** Shown after a line that waits. */
const WAITS = "  (queued)";
/** Goes to the start of the row and erases it. */
const WIPED = "\r\x1b[2K";
const UP = "\x1b[1A";
const TAB = 8;
/** Number of waiting lines that are shown, the newest ones. */
const MAX_HELD = 3;

export function typingRow({ out, width, plain }: TypingRowOptions): TypingRow {
  const editor = lineEditor();
  const styleText = styler(plain);
  const held: string[] = [];
  /** Column of the next output. */
  let column = 0;
  /** The cells of each drawn row, beginning in the output's row or in the row below it. */
  let shown: readonly number[] = [];
  let paused = false;

  const wiped = (): string => {
    if (shown.length === 0) return "";
    // In a terminal that has become narrower, the rows now wrap, as tmux and most terminals do it.
    const now = width();
    const count = shown.reduce((sum, cells) => sum + Math.max(1, Math.ceil(cells / now)), 0);
    while (column > now) column -= now;
    shown = [];
    const rows = Array.from({ length: count }, () => WIPED).join(UP);
    return column === 0 ? rows : `${rows}${UP}\x1b[${column + 1}G`;
  };
  const drawn = (): string => {
    const room = width() - 3;
    const waiting = held.slice(-MAX_HELD).map((line) => `${lineEnd(line, room - WAITS.length)}${WAITS}`);
    const typed = editor.line === "" ? [] : [lineEnd(editor.line, room)];
    const rows = [
      ...waiting.map((text) => styleText(TONE.quiet, `› ${text}`)),
      ...typed.map((text) => `${styleText("bold", "›")} ${text}`),
    ];
    shown = [...waiting, ...typed].map((text) => 2 + displayWidth(text));
    return `${column === 0 || rows.length === 0 ? "" : "\n"}${rows.map((row) => `${WIPED}${row}`).join("\n")}`;
  };
  const redraw = (): void => {
    if (!paused) out(`${wiped()}${drawn()}`);
  };
  return {
    editor,
    write(text) {
      const before = wiped();
      column = columnAfter(column, text, width());
      out(`${before}${text}${drawn()}`);
    },
    echo(text) {
      if (text === PASTES_ON || text === PASTES_OFF) return out(text);
      redraw();
    },
    hold(line) {
      held.push(line);
      redraw();
    },
    release(line) {
      const at = held.indexOf(line);
      if (at === -1) return;
      held.splice(at, 1);
      redraw();
    },
    pause() {
      out(wiped());
      paused = true;
    },
    resume() {
      paused = false;
      redraw();
    },
  };
}

/** Returns a typed line as one row; only its end if it is too long. */
export function lineEnd(line: string, width: number): string {
  // A pasted line may be very long: keep at most two code units per cell, and no half of a character.
  const tail = line.slice(-2 * Math.max(1, width)).replace(/^[\uDC00-\uDFFF]/, "");
  const chars = [...gridText(tail.replaceAll("\n", "⏎"))];
  while (chars.length > 0 && displayWidth(chars.join("")) > width) chars.shift();
  return chars.join("");
}

/** Returns the column after output of a pane: text, SGR sequences and line ends. */
function columnAfter(column: number, text: string, width: number): number {
  const row = text.slice(text.lastIndexOf("\n") + 1).replace(/\x1b\[[0-9;?]*[A-Za-z]|\u0007/g, "");
  let at = text.includes("\n") ? 0 : column;
  for (const [i, part] of row.split("\t").entries()) {
    if (i > 0) at = (Math.floor(at / TAB) + 1) * TAB;
    at += displayWidth(part);
  }
  while (at > width) at -= width;
  return at;
}
