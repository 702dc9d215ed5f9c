import { after, steadyNow } from "../os/clock.ts";
import { asciiRow } from "../text/ascii.ts";
import { cutToWidth, displayWidth } from "../text/cell-width.ts";
import { textStart } from "../text/characters/cut-text.ts";
import { cutStyled } from "../text/cut-styled.ts";
import { styler, TONE } from "../text/style.ts";
import { gridText } from "../text/terminal-text.ts";
import { type InputRows, inputRows } from "./input/input-rows.ts";
import { type LineEditor, lineEditor } from "./input/line-editor.ts";

/**
 * The last rows of a pane, which are redrawn in place: work in progress, the activity, entered lines that wait for the running
 * turn, and the input line. The agent's output goes above them, in whole rows, and is never redrawn.
 */
export interface LiveRegion {
  /** Holds the typed line. */
  readonly editor: LineEditor;
  /** Writes output of the agent above the region: whole rows, each with its line end. */
  write(text: string): void;
  /** Shows work in progress: its newest rows, if not all fit. May draw a moment later, and calls `rows` then. */
  progress(rows: (() => readonly string[]) | undefined): void;
  /** Shows what the agent does now; undefined if it does nothing. */
  activity(row: string | undefined): void;
  /** Sets the text before the input line. */
  prompt(text: string): void;
  /** Shows the input line while it takes keys. */
  openInput(): void;
  closeInput(): void;
  /** Sends a control sequence to the terminal. */
  control(sequence: string): void;
  /** Draws the input line after a change. */
  changed(): void;
  /** Shows an entered line that waits for the running turn. */
  hold(line: string): void;
  /** Removes that line. */
  release(line: string): void;
  /** Removes the region while something else has the terminal, until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Clears the terminal, and draws only the region. */
  clear(): void;
}

interface LiveRegionOptions {
  /** Writes to the terminal. */
  out(text: string): void;
  /** Current columns and rows of the terminal. */
  width(): number;
  height(): number;
  readonly plain: boolean;
  /** The terminal shows no UTF-8: signs get their ASCII form. */
  readonly ascii?: boolean;
}

/** Shown after a line that waits. */
const WAITS = "  (queued)";
/** Number of waiting lines that are shown, the newest ones. */
const MAX_HELD = 3;
const PROMPT = "›";
/** Rows of the input line at most, and of its list of suggestions. */
const MAX_INPUT = 8;
/** Milliseconds between two drawings of progress; a key is drawn at once. */
const FRAME_MS = 33;
/** Milliseconds without progress after a slow drawing at most: a terminal that stood still shows it again soon. */
const MAX_REST_MS = 1_000;
/** Erases from the cursor to the end of its row, and to the end of the screen. Sent before a row: after a full row, the cursor is on its last cell. */
const ERASE_ROW = "\x1b[K";
const ERASE_BELOW = "\x1b[J";
const CLEAR = "\x1b[H\x1b[2J";
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";

export function liveRegion({ width, height, plain, ...options }: LiveRegionOptions): LiveRegion {
  const out = options.ascii ? (text: string): void => options.out(asciiRow(text)) : options.out;
  const editor = lineEditor();
  const styleText = styler(plain);
  const held: string[] = [];
  let inProgress: (() => readonly string[]) | undefined;
  let activity: string | undefined;
  let prompt = PROMPT;
  let hasInput = false;
  let isPaused = false;
  /** The drawn rows, and the cursor's place among them. */
  let drawn: { readonly rows: readonly string[]; readonly row: number; readonly column: number } = EMPTY;
  /** When progress may be drawn again, in milliseconds of the steady clock. */
  let nextFrame = 0;
  let cancelFrame: (() => void) | undefined;

  /** Moves the cursor from its place in the drawn rows to the start of the first one. */
  const toTop = (): string => {
    // In a terminal that has become narrower, the rows now wrap, as tmux and most terminals do it.
    const now = width();
    const above = drawn.rows
      .slice(0, drawn.row)
      .reduce((sum, row) => sum + Math.max(1, Math.ceil(cellsOf(row) / now)), 0);
    return `${up(above + Math.floor(drawn.column / (now + 1)))}\r`;
  };
  const content = (): typeof drawn => {
    const columns = width();
    const rows = height();
    const maxInput = Math.max(1, Math.min(MAX_INPUT, Math.floor(rows / 3)));
    const input: InputRows = hasInput
      ? inputRows(editor.edited, { width: columns, maxRows: maxInput, styleText, prompt })
      : { rows: [], row: 0, column: 0 };
    const waiting = held
      .slice(-MAX_HELD)
      .map((line) =>
        styleText(TONE.quiet, `${PROMPT} ${waitingLine(line, columns - 3 - WAITS.length)}${WAITS}`),
      );
    const fixed = [...(activity === undefined ? [] : [cutStyled(activity, columns - 1)]), ...waiting];
    // Leaves a row of the output in sight.
    const room = Math.max(0, rows - 1 - fixed.length - input.rows.length);
    const progress = inProgress === undefined || room === 0 ? [] : inProgress().slice(-room);
    const above = [...progress, ...fixed].slice(-Math.max(1, rows - input.rows.length));
    const all = [...above, ...input.rows];
    if (!hasInput) return { rows: all, row: Math.max(0, all.length - 1), column: 0 };
    return { rows: all, row: above.length + input.row, column: input.column };
  };
  /** Writes output above the region and draws the region below it, in one write. */
  const draw = (text = ""): void => {
    cancelFrame?.();
    cancelFrame = undefined;
    const begun = steadyNow();
    nextFrame = begun + FRAME_MS;
    if (isPaused) {
      if (text !== "") out(text);
      return;
    }
    const next = content();
    const isSame = text === "" && next.rows.length === drawn.rows.length;
    const rows = next.rows.map((row, i) => (isSame && row === drawn.rows[i] ? "" : `${ERASE_ROW}${row}`));
    const parts = [toTop(), text === "" ? "" : `${ERASE_BELOW}${text}`, rows.join("\r\n")];
    // Rows that are gone; a region without rows leaves the cursor below the output.
    if (!isSame && text === "") parts.push(next.rows.length === 0 ? ERASE_BELOW : `\x1b[0m${ERASE_BELOW}`);
    parts.push(up(next.rows.length - 1 - next.row), next.rows.length === 0 ? "" : `\r${right(next.column)}`);
    parts.push(hasInput || next.rows.length === 0 ? SHOW_CURSOR : HIDE_CURSOR);
    drawn = next;
    out(parts.join(""));
    // Progress that takes long to draw gets at most half of the time.
    const ended = steadyNow();
    nextFrame = Math.max(nextFrame, ended + Math.min(ended - begun, MAX_REST_MS));
  };
  const drawSoon = (): void => {
    if (cancelFrame !== undefined || isPaused) return;
    const wait = nextFrame - steadyNow();
    if (wait <= 0) draw();
    else cancelFrame = after(wait, draw);
  };
  return {
    editor,
    write: draw,
    progress(rows) {
      if (rows === undefined && inProgress === undefined) return;
      inProgress = rows;
      drawSoon();
    },
    activity(row) {
      if (row === activity) return;
      activity = row;
      drawSoon();
    },
    prompt(text) {
      prompt = text === "" ? PROMPT : `${text} ${PROMPT}`;
      draw();
    },
    openInput() {
      hasInput = true;
      draw();
    },
    closeInput() {
      hasInput = false;
      draw();
    },
    control: out,
    changed: () => draw(),
    hold(line) {
      held.push(line);
      draw();
    },
    release(line) {
      const at = held.indexOf(line);
      if (at === -1) return;
      held.splice(at, 1);
      draw();
    },
    pause() {
      out(`${toTop()}${ERASE_BELOW}${SHOW_CURSOR}`);
      drawn = EMPTY;
      isPaused = true;
      cancelFrame?.();
      cancelFrame = undefined;
    },
    resume() {
      isPaused = false;
      draw();
    },
    clear() {
      if (isPaused) return;
      out(CLEAR);
      drawn = EMPTY;
      draw();
    },
  };
}

const EMPTY = { rows: [], row: 0, column: 0 } as const;

function up(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

function right(columns: number): string {
  return columns > 0 ? `\x1b[${columns}C` : "";
}

function cellsOf(row: string): number {
  return displayWidth(row.replace(/\x1b\[[0-9;]*m/g, ""));
}

/** Returns a waiting line as one row. */
function waitingLine(line: string, width: number): string {
  // A pasted line may be very long: at most two code units for each cell can be shown.
  return cutToWidth(gridText(textStart(line, 2 * Math.max(1, width)).replaceAll("\n", "⏎")), width);
}
