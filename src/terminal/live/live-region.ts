import { after, steadyNow } from "../../os/clock.ts";
import { asciiRow } from "../../text/ascii.ts";
import { styledWidth } from "../../text/cut-styled.ts";
import { styler } from "../../text/style.ts";
import { type LineEditor, lineEditor } from "../input/line-editor.ts";
import { type LiveRows, liveRows, PROMPT } from "./live-rows.ts";

/**
 * The last rows of a pane, which are redrawn in place: work in progress, the activity, entered lines that wait for the running
 * turn, and the input line. The agent's output goes above them, in whole rows, and is never redrawn.
 */
export interface LiveRegion {
  /** Holds the typed line. */
  readonly editor: LineEditor;
  /** Writes output of the agent above the region: whole rows, each with its line end. */
  write(text: string): void;
  /** Runs a function, and draws the changes of all its calls once. */
  together<T>(act: () => T): T;
  /** Shows work in progress: its newest rows, if not all fit. May draw a moment later, and calls `rows` then. */
  progress(rows: (() => readonly string[]) | undefined): void;
  /** Shows the agent's activity, with rows of details above it; undefined if it has none. Draws as `progress` does. */
  activity(row: string | undefined, details?: () => readonly string[]): void;
  /** Shows a question above the activity, or writes it if it does not fit; undefined removes it. */
  question(asked: LiveQuestion | undefined): void;
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

/** A question that waits for its answer in the last rows. */
export interface LiveQuestion {
  /** All of its rows, for the current width. */
  rows(): readonly string[];
  /** Writes it above the region: the terminal has become too small for it. */
  write(): void;
}

interface LiveRegionOptions {
  /** Writes to the terminal. */
  out(text: string): void;
  /** Current columns and rows of the terminal. */
  width(): number;
  height(): number;
  readonly plain: boolean;
  /** True if the terminal cannot show UTF-8: signs get their ASCII form. */
  readonly ascii?: boolean;
  /** Sets the region apart from the output by an empty row, in a terminal that is high enough. */
  readonly apart?: boolean;
}

/** Milliseconds between two drawings of progress; a key is drawn at once. */
const FRAME_MS = 33;
/** Maximum milliseconds without progress after a slow drawing: a terminal that was stalled soon shows progress again. */
const MAX_REST_MS = 1_000;
/** Erases from the cursor to the end of its row. Sent before a row: after a full row, the cursor is on its last cell. */
const ERASE_ROW = "\x1b[K";
/**
 * Erases from the cursor, at the start of a row, to the end of the screen: first its row, then the next one and all below. In one
 * step, from the top of the screen, tmux would keep the erased rows in its history.
 */
const ERASE_BELOW = "\x1b7\x1b[K\x1b[B\x1b[J\x1b8";
/** Erases everything after the last drawn row. */
const ERASE_REST = "\x1b[0m\x1b[J";
const CLEAR = "\x1b[H\x1b[2J";
/** Around a drawing: a terminal that knows these sequences shows all of it in one frame. */
const BEGIN_FRAME = "\x1b[?2026h";
const END_FRAME = "\x1b[?2026l";
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";

export function liveRegion({ width, height, plain, ...options }: LiveRegionOptions): LiveRegion {
  const out = options.ascii ? (text: string): void => options.out(asciiRow(text)) : options.out;
  const editor = lineEditor();
  const styleText = styler(plain);
  const held: string[] = [];
  let inProgress: (() => readonly string[]) | undefined;
  let activity: string | undefined;
  let details: (() => readonly string[]) | undefined;
  let question: LiveQuestion | undefined;
  /** Output that is not written yet. */
  let pending = "";
  let hasOutput = false;
  /** Number of running calls of `together`, and the drawing that is due at their end. */
  let depth = 0;
  let due: "now" | "soon" | undefined;
  let prompt = PROMPT;
  let hasInput = false;
  let isPaused = false;
  /** The drawn rows, the cursor's place among them, and the columns of the terminal. */
  let drawn: Omit<LiveRows, "fits"> & { readonly width: number } = EMPTY;
  /** When progress may be drawn again, in milliseconds of the steady clock. */
  let nextFrame = 0;
  let cancelFrame: (() => void) | undefined;

  /** Moves the cursor from its place in the drawn rows to the start of the first one. */
  const toTop = (): string => {
    // If the terminal has become narrower, the rows now wrap, as in tmux and most terminals.
    const now = width();
    const above = drawn.rows
      .slice(0, drawn.row)
      .reduce((sum, row) => sum + Math.max(1, Math.ceil(styledWidth(row) / now)), 0);
    return `${up(above + Math.floor(drawn.column / (now + 1)))}\r`;
  };
  /** Text in progress as it was rendered last. */
  let rendered: { readonly rows: readonly string[]; readonly width: number } | undefined;
  /** @param isKey uses the text of the last frame: rendering a long text takes too long for a key press */
  const content = (isKey: boolean): LiveRows => {
    const columns = width();
    const progressRows = (): readonly string[] => {
      if (!isKey || rendered?.width !== columns) rendered = { rows: inProgress?.() ?? [], width: columns };
      return rendered.rows;
    };
    return liveRows(
      {
        progress: inProgress === undefined ? undefined : progressRows,
        isApart: options.apart === true && (hasOutput || pending !== ""),
        details,
        question: question?.rows,
        activity,
        held,
        input: hasInput ? editor.edited : undefined,
        prompt,
      },
      { width: columns, height: height(), styleText },
    );
  };
  const takePending = (): string => {
    const text = pending;
    pending = "";
    return text;
  };
  /** Returns the output that draws these rows below the text. */
  const drawing = (next: LiveRows, text: string): string => {
    // After another width, the rows may have been wrapped: each of them is elsewhere.
    const isAsWide = drawn.rows.length === 0 || width() === drawn.width;
    const isSame = text === "" && next.rows.length === drawn.rows.length && isAsWide;
    const rows = next.rows.map((row, i) => (isSame && row === drawn.rows[i] ? "" : `${ERASE_ROW}${row}`));
    const parts = [toTop(), text === "" ? "" : `${ERASE_BELOW}${text}`, rows.join("\r\n")];
    // Erases rows that are gone; a region without rows leaves the cursor below the output.
    if (!isSame && text === "") parts.push(next.rows.length === 0 ? ERASE_BELOW : ERASE_REST);
    parts.push(up(next.rows.length - 1 - next.row), next.rows.length === 0 ? "" : `\r${right(next.column)}`);
    parts.push(hasInput || next.rows.length === 0 ? SHOW_CURSOR : HIDE_CURSOR);
    const isFrame = !isSame && drawn.rows.length + next.rows.length > 1;
    return isFrame ? `${BEGIN_FRAME}${parts.join("")}${END_FRAME}` : parts.join("");
  };
  /** Writes the pending output above the region and draws the region below it, in one write. */
  const draw = (): void => {
    if (depth > 0) {
      due = "now";
      return;
    }
    cancelFrame?.();
    cancelFrame = undefined;
    const begun = steadyNow();
    nextFrame = begun + FRAME_MS;
    drawNow(false);
    // Progress that takes long to draw gets at most half of the time.
    const ended = steadyNow();
    nextFrame = Math.max(nextFrame, ended + Math.min(ended - begun, MAX_REST_MS));
  };
  const drawNow = (isKey: boolean): void => {
    if (isPaused) {
      hasOutput ||= pending !== "";
      if (pending !== "") out(takePending());
      return;
    }
    const next = content(isKey);
    if (question !== undefined && !next.fits) {
      const { write } = question;
      question = undefined;
      together(write);
      return;
    }
    const text = takePending();
    hasOutput ||= text !== "";
    const shown = drawing(next, text);
    drawn = { ...next, width: width() };
    out(shown);
  };
  const drawSoon = (): void => {
    if (depth > 0) {
      due ??= "soon";
      return;
    }
    if (cancelFrame !== undefined || isPaused) return;
    const wait = nextFrame - steadyNow();
    if (wait <= 0) draw();
    else cancelFrame = after(wait, draw);
  };
  const together = <T>(act: () => T): T => {
    depth += 1;
    try {
      return act();
    } finally {
      depth -= 1;
      if (depth === 0) {
        const needs = due;
        due = undefined;
        if (needs === "now") draw();
        else if (needs === "soon") drawSoon();
      }
    }
  };
  return {
    editor,
    write(text) {
      pending += text;
      draw();
    },
    together,
    progress(rows) {
      if (rows === undefined && inProgress === undefined) return;
      if (rows !== inProgress) rendered = undefined;
      inProgress = rows;
      drawSoon();
    },
    activity(row, more) {
      if (row === activity && more === undefined && details === undefined) return;
      activity = row;
      details = more;
      drawSoon();
    },
    question(asked) {
      question = asked;
      draw();
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
    changed() {
      if (depth > 0) due = "now";
      else drawNow(true);
    },
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
      hasOutput = false;
      draw();
    },
  };
}

const EMPTY = { rows: [], row: 0, column: 0, width: 0 } as const;

function up(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

function right(columns: number): string {
  return columns > 0 ? `\x1b[${columns}C` : "";
}
