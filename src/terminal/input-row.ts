import { styler, TONE } from "../text/style.ts";
import { displayWidth, gridText } from "../text/terminal-text.ts";
import { type LineEditor, lineEditor, PASTES_OFF, PASTES_ON } from "./line-editor.ts";

/**
 * A pane's last rows, for what is typed and not entered, and for what was entered and waits: what the agent says meanwhile goes
 * above them, so that a person can read their own words. They are there as long as there are such; nothing else is ever drawn
 * over.
 */
export interface TypingRow {
  /** Holds the line. */
  readonly editor: LineEditor;
  /** What the pane shows. */
  write(text: string): void;
  /** The line has changed, by what an editor would have shown of that; the terminal's own orders go to it as they are. */
  echo(text: string): void;
  /** This line was entered, and waits for the turn that runs. */
  hold(line: string): void;
  /** It waits no more. */
  release(line: string): void;
  /** Takes the rows away: something else has the terminal until {@link resume}. */
  pause(): void;
  resume(): void;
}

interface TypingRowOptions {
  /** Writes to the terminal. */
  out(text: string): void;
  /** Columns of the terminal now. */
  width(): number;
  readonly plain: boolean;
}

/** Behind a line that waits. */
const WAITS = "  (queued)";
/** Back to the row's start, and nothing on it. */
const WIPED = "\r\x1b[2K";
const UP = "\x1b[1A";
const TAB = 8;
/** Lines that wait and are shown: the newest. */
const MOST_HELD = 3;

export function typingRow({ out, width, plain }: TypingRowOptions): TypingRow {
  const editor = lineEditor();
  const paint = styler(plain);
  const held: string[] = [];
  /** Where the next text of the pane goes. */
  let column = 0;
  /** The cells of each row that stands there, from that one on or from the one below. */
  let shown: readonly number[] = [];
  let paused = false;

  const wiped = (): string => {
    if (shown.length === 0) return "";
    // One that has become narrower goes on with its rows in further ones, as tmux and most terminals do it.
    const now = width();
    const count = shown.reduce((sum, cells) => sum + Math.max(1, Math.ceil(cells / now)), 0);
    while (column > now) column -= now;
    shown = [];
    const rows = Array.from({ length: count }, () => WIPED).join(UP);
    return column === 0 ? rows : `${rows}${UP}\x1b[${column + 1}G`;
  };
  const drawn = (): string => {
    const room = width() - 3;
    const waiting = held.slice(-MOST_HELD).map((line) => `${lineEnd(line, room - WAITS.length)}${WAITS}`);
    const typed = editor.line === "" ? [] : [lineEnd(editor.line, room)];
    const rows = [
      ...waiting.map((text) => paint(TONE.quiet, `› ${text}`)),
      ...typed.map((text) => `${paint("bold", "›")} ${text}`),
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

/** A typed line in one row, or its end where that is too long for it. */
export function lineEnd(line: string, width: number): string {
  // No more than can have a cell each, since what was pasted may be very long; and of no character half.
  const tail = line.slice(-2 * Math.max(1, width)).replace(/^[\uDC00-\uDFFF]/, "");
  const chars = [...gridText(tail.replaceAll("\n", "⏎"))];
  while (chars.length > 0 && displayWidth(chars.join("")) > width) chars.shift();
  return chars.join("");
}

/** Of text that our own pens wrote: words, colours, line ends. */
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
