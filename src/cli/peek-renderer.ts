import type { ScreenChanges, VisibleRows } from "../backend/visible-rows.ts";
import { onSuspend } from "../os/process/suspend.ts";
import type { Io } from "../terminal/io.ts";
import { line, type Output, visible } from "../terminal/output.ts";
import { cutToWidth, displayWidth } from "../text/cell-width.ts";
import { stripControls } from "../text/terminal-text.ts";

/** Shows an agent's screen to the user of `peek --follow`. */
export interface PeekRenderer {
  /** @param state the state that the agent reports; empty if it reports none */
  show(current: VisibleRows, changes: ScreenChanges, state: string): void;
  /**
   * Restores the terminal. Idempotent.
   * @param last the last screen; its final rows stay on the terminal
   */
  close(last?: VisibleRows): void;
}

/** Prints new rows below each other: for a pipe, a file, or a terminal that cannot be drawn on. */
export function rowRenderer(out: Output, name: string): PeekRenderer {
  return {
    show(_, { rows, leftOut }) {
      if (rows.length === 0) return;
      out.item({ agent: name, lines: rows, leftOut: leftOut ?? null }, () => {
        const texts = rows.map(stripControls);
        const omitted = leftOut === undefined ? "some" : String(leftOut);
        if (leftOut !== 0) texts.unshift(out.styleText(`… ${omitted} lines omitted …`, "quiet").styled);
        return texts.join("\n");
      });
    },
    close: () => undefined,
  };
}

/** Redraws the screen in place, on the terminal's alternate screen: nothing stays afterwards. */
export function screenRenderer(io: Io, out: Output, name: string): PeekRenderer {
  let drawn: string | undefined;
  const restoreTerminal = (): void => {
    if (drawn !== undefined) io.out(CLOSE);
    drawn = undefined;
  };
  const removeSuspendHook = onSuspend(restoreTerminal);
  return {
    show(current, _, state) {
      const size = { columns: io.columns ?? 80, rows: io.rows ?? 24 };
      const foot = [name, state, "Ctrl-C stops watching"].filter((word) => word !== "").join(" · ");
      const rows = current.rows.map(({ text }) => text);
      const picture = drawScreen(
        rows,
        out.styleText(cutToWidth(foot, size.columns - 1), "quiet").styled,
        size,
      );
      if (picture === drawn) return;
      io.out(drawn === undefined ? `${OPEN}${picture}` : picture);
      drawn = picture;
    },
    close(last) {
      restoreTerminal();
      removeSuspendHook();
      for (const { text } of last?.rows.slice(-LAST_ROWS) ?? []) io.out(`${stripControls(text)}\n`);
    },
  };
}

/** Rows of an ended agent that stay on the terminal: enough for an error and its cause. */
const LAST_ROWS = 10;
/** Alternate screen, no cursor, no wrapping (a terminal may measure a row wider than we do); and back. */
const OPEN = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const CLOSE = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Synchronized output: terminals that know it show everything between the two sequences at once. Others redraw in place. */
const [TOGETHER, END_TOGETHER] = ["\x1b[?2026h", "\x1b[?2026l"];

/** Returns one drawing: the last rows that fit, and a line below them. Nothing is cleared before it is drawn over. */
export function drawScreen(
  rows: readonly string[],
  foot: string,
  size: { readonly columns: number; readonly rows: number },
): string {
  const room = Math.max(1, size.rows - 1);
  const shown = rows.slice(-room).map((row) => cutToWidth(visible(row), size.columns));
  const lines = [...shown, ...Array.from({ length: room - shown.length }, () => "")];
  // After a row that fills the line, the cursor is on its last cell, which a clear would erase.
  const whole = (text: string): string => (displayWidth(text) < size.columns ? `${text}\x1b[K` : text);
  return `${TOGETHER}\x1b[H${lines.map((text) => `${whole(text)}\r\n`).join("")}${foot}\x1b[K${END_TOGETHER}`;
}

/** Describes how an agent ended. */
export function endText(
  name: string,
  exit: { readonly code: number | null; readonly signal: string | null } | undefined,
): string {
  if (exit === undefined) return line`${name} has ended.`;
  return line`${name} has ended: ${exit.signal ?? `exit code ${exit.code ?? "unknown"}`}.`;
}
