import type { ScreenChanges, VisibleRows } from "../backend/visible-rows.ts";
import { onSuspend } from "../os/process/suspend.ts";
import type { Io } from "../terminal/io.ts";
import type { Output } from "../terminal/output.ts";
import { line, visible } from "../terminal/paint.ts";
import { cutToWidth, displayWidth, stripControls } from "../text/terminal-text.ts";

/** Where one that watches an agent's screen sees it. */
export interface PeekRenderer {
  /** @param state what the agent says of itself; empty for nothing */
  show(sight: VisibleRows, changes: ScreenChanges, state: string): void;
  /**
   * Gives the terminal back as it was; may be called twice.
   * @param last stays to be read there
   */
  close(last?: VisibleRows): void;
}

/** Rows as they come, below each other: for a pipe, a file, and a terminal that cannot be drawn on. */
export function rowRenderer(out: Output, name: string): PeekRenderer {
  return {
    show(_, { rows, leftOut }) {
      if (rows.length === 0) return;
      out.item({ agent: name, lines: rows, leftOut: leftOut ?? null }, () => {
        const texts = rows.map(stripControls);
        const left = leftOut === undefined ? "some" : String(leftOut);
        if (leftOut !== 0) texts.unshift(out.paint(`… ${left} lines left out …`, "quiet").painted);
        return texts.join("\n");
      });
    },
    close: () => undefined,
  };
}

/** A picture that is drawn over in place, on the terminal's other screen, so that nothing of it stays. */
export function screenRenderer(io: Io, out: Output, name: string): PeekRenderer {
  let drawn: string | undefined;
  const giveBack = (): void => {
    if (drawn !== undefined) io.out(CLOSE);
    drawn = undefined;
  };
  const endStops = onSuspend(giveBack);
  return {
    show(sight, _, state) {
      const size = { columns: io.columns ?? 80, rows: io.rows ?? 24 };
      const foot = [name, state, "Ctrl-C stops watching"].filter((word) => word !== "").join(" · ");
      const rows = sight.rows.map(({ text }) => text);
      const picture = drawScreen(rows, out.paint(cutToWidth(foot, size.columns - 1), "quiet").painted, size);
      if (picture === drawn) return;
      io.out(drawn === undefined ? `${OPEN}${picture}` : picture);
      drawn = picture;
    },
    close(last) {
      giveBack();
      endStops();
      for (const { text } of last?.rows.slice(-LAST_ROWS) ?? []) io.out(`${stripControls(text)}\n`);
    },
  };
}

/** Of an agent that has ended: enough for an error and what led to it. */
const LAST_ROWS = 10;
/** Other screen, no cursor, no wrapping of a row that another terminal measures wider than we do; and back. */
const OPEN = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const CLOSE = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Terminals that know it show all in between at once; the others draw it over in place, which does not flicker either. */
const [TOGETHER, END_TOGETHER] = ["\x1b[?2026h", "\x1b[?2026l"];

/** One picture: the last rows that have room, and a line below them. Nothing is cleared before it is drawn over. */
export function drawScreen(
  rows: readonly string[],
  foot: string,
  size: { readonly columns: number; readonly rows: number },
): string {
  const room = Math.max(1, size.rows - 1);
  const shown = rows.slice(-room).map((row) => cutToWidth(visible(row), size.columns));
  const lines = [...shown, ...Array.from({ length: room - shown.length }, () => "")];
  // Behind a row that fills the line the cursor stands on its last cell, which would be cleared.
  const whole = (text: string): string => (displayWidth(text) < size.columns ? `${text}\x1b[K` : text);
  return `${TOGETHER}\x1b[H${lines.map((text) => `${whole(text)}\r\n`).join("")}${foot}\x1b[K${END_TOGETHER}`;
}

/** How an agent ended, in words. */
export function endText(
  name: string,
  exit: { readonly code: number | null; readonly signal: string | null } | undefined,
): string {
  if (exit === undefined) return line`${name} has ended.`;
  return line`${name} has ended: ${exit.signal ?? `exit code ${exit.code ?? "unknown"}`}.`;
}
