import { openFullScreen } from "../terminal/full-screen.ts";
import { keyDecoder, type Pressed } from "../terminal/input/key-decoder.ts";
import { type KeyHandler, readKeys } from "../terminal/input/read-keys.ts";
import type { Io } from "../terminal/io.ts";
import { cutStyled } from "../text/cut-styled.ts";
import { styler, TONE } from "../text/style.ts";

/** Size of a terminal that does not know its own. */
const [COLUMNS, ROWS] = [80, 24];

/** A text that changes, in the whole terminal: the part that fits, and keys that scroll. */
export interface WatchScreen {
  /** Draws the newest text. */
  show(): void;
  /** Aborts when the user quits. */
  readonly closed: AbortSignal;
  /** Whether Ctrl-C, and not q, has closed it. */
  readonly isInterrupted: boolean;
  /** Returns to the usual screen. */
  close(): void;
}

/**
 * Opens the screen. Draws again after a resize and a key.
 * @param text returns the newest text for the width of the terminal, safe to print
 * @param plain no colours
 */
export function openWatchScreen(io: Io, text: () => string, plain: boolean): WatchScreen {
  const screen = openFullScreen((part) => io.out(part));
  const closing = new AbortController();
  let isInterrupted = false;
  let from = 0;
  const draw = (): void => {
    const [width, height] = [io.columns ?? COLUMNS, io.rows ?? ROWS];
    const view = visibleRows(text().split("\n"), { from, width, height, plain });
    ({ from } = view);
    screen.draw(view);
  };
  const keys = watchKeys({
    scroll: (by, unit) => {
      const page = Math.max(1, (io.rows ?? ROWS) - 2);
      from = Math.max(0, from + by * (unit === "page" ? page : 1));
      draw();
    },
    quit: (interrupted) => {
      isInterrupted = interrupted;
      closing.abort();
    },
    redraw: () => resized(),
  });
  const stopKeys = io.terminal.stdin ? readKeys(keys, (sequence) => io.out(sequence)) : undefined;
  const resized = (): void => {
    screen.forget();
    draw();
  };
  process.stdout.on("resize", resized);
  return {
    show: draw,
    closed: closing.signal,
    get isInterrupted() {
      return isInterrupted;
    },
    close: () => {
      process.stdout.off("resize", resized);
      stopKeys?.();
      screen.close();
    },
  };
}

interface ViewSize {
  /** Index of the first row to show; a larger one than possible shows the last rows. */
  readonly from: number;
  readonly width: number;
  readonly height: number;
  readonly plain: boolean;
}

/** Returns the rows that fit, cut to the width, and the index of the first. If some do not fit, a last row says how many. */
export function visibleRows(
  lines: readonly string[],
  { from, width, height, plain }: ViewSize,
): { readonly rows: readonly string[]; readonly from: number } {
  if (lines.length <= height) return { rows: lines.map((row) => cutStyled(row, width)), from: 0 };
  const room = Math.max(1, height - 1);
  const first = Math.min(Math.max(0, from), lines.length - room);
  const below = lines.length - first - room;
  const what = [
    ...(first > 0 ? [`${first} above`] : []),
    ...(below > 0 ? [`${below} below`] : []),
    "q closes",
    "j k scroll",
  ].join(" · ");
  const rows = [...lines.slice(first, first + room), styler(plain)(TONE.quiet, `… ${what}`)];
  return { rows: rows.slice(0, height).map((row) => cutStyled(row, width)), from: first };
}

interface WatchActions {
  /** @param by rows or pages; negative: up */
  scroll(by: number, unit: "row" | "page"): void;
  quit(interrupted: boolean): void;
  redraw(): void;
}

function watchKeys({ scroll, quit, redraw }: WatchActions): KeyHandler {
  const decoder = keyDecoder();
  const all = Number.MAX_SAFE_INTEGER;
  const chars: Readonly<Record<string, () => void>> = {
    q: () => quit(false),
    j: () => scroll(1, "row"),
    k: () => scroll(-1, "row"),
    " ": () => scroll(1, "page"),
    b: () => scroll(-1, "page"),
    g: () => scroll(-all, "row"),
    G: () => scroll(all, "row"),
  };
  const named: Readonly<Record<string, () => void>> = {
    up: () => scroll(-1, "row"),
    down: () => scroll(1, "row"),
    "page-up": () => scroll(-1, "page"),
    "page-down": () => scroll(1, "page"),
    home: () => scroll(-all, "row"),
    end: () => scroll(all, "row"),
    redraw,
  };
  const press = (pressed: Pressed): void => {
    if (pressed.kind === "text") {
      if (!pressed.pasted) for (const char of pressed.text) chars[char]?.();
    } else if ("key" in pressed) named[pressed.key]?.();
    else if (pressed.kind === "signal") {
      if (pressed.signal === "SIGINT") quit(true);
    } else if (pressed.kind === "escape" || pressed.kind === "end-of-input") quit(false);
  };
  return {
    push: (text) => decoder.push(text).forEach(press),
    get isPending() {
      return decoder.isPending;
    },
    settle: () => decoder.settle().forEach(press),
  };
}
