import type { Widgets } from "blessed";
import { asciiRow } from "../text/ascii.ts";
import { cells } from "../text/cell-width.ts";
import { BRACKETED_PASTE_OFF, BRACKETED_PASTE_ON } from "../text/extended-keys.ts";
import { KeyInput } from "./key-input.ts";
import type { Line, SpanStyle } from "./spans.ts";

/** A full-screen grid of cells with a keyboard and a mouse. */
export interface GridScreen {
  size(): { readonly width: number; readonly height: number };
  /** Draws these lines; unchanged rows are not sent again. */
  draw(lines: readonly Line[]): void;
  /** A key as blessed names it (`j`, `S-g`, `C-c`, `enter`), and the character that it types. */
  onKey(listener: (key: string, char: string | undefined) => void): void;
  /** Pasted text, which may have several lines. */
  onPaste(listener: (text: string) => void): void;
  /** A press of the left button, or one step of the wheel, on a row counted from 0. */
  onMouse(listener: (event: "press" | "wheel-up" | "wheel-down", row: number) => void): void;
  onResize(listener: () => void): void;
  /** Restores the terminal. */
  close(): void;
}

type Cell = [attribute: number, char: string];
type Row = Cell[] & { dirty: boolean };

/**
 * The cell buffer of blessed's screen. Its elements are not used: they measure wide characters wrongly and then shift whole
 * rows, while a cell of the buffer is drawn as it is set.
 */
interface CellBuffer {
  lines: Row[];
  olines: Row[];
  draw(start: number, end: number): void;
}

interface Tput {
  /** Directories of terminal descriptions. */
  ipaths: unknown[];
}

/** A mouse event of blessed. */
interface MouseReport {
  readonly action: string;
  readonly button?: string;
  readonly y: number;
  /** Begins with the code of the button. A change of the focus has none. */
  readonly raw?: readonly [number, ...unknown[]];
}

const DEFAULT_COLOR = 0x1ff;
const BOLD = 1;
const UNDERLINE = 2;
const BLINK = 4;
const REVERSE = 8;

/**
 * Takes over the terminal. Loads blessed only here. Uses blessed's own terminal description, since it misreads those of newer
 * systems, and always Unicode, which tmux shows in any locale; with `ascii`, all signs are ASCII.
 */
export async function openScreen(options: ScreenOptions): Promise<GridScreen> {
  const { default: blessed } = await import("blessed");
  (blessed as unknown as { tput: Tput }).tput.ipaths = [];
  const input = new KeyInput(process.stdin);
  const screen = blessed.screen({
    input,
    terminal: "xterm-256color",
    forceUnicode: true,
    warnings: false,
    autoPadding: false,
  });
  // Send line-drawing characters as Unicode: the terminal's alternate set becomes letters in some locales.
  (screen.program as unknown as { tput: { brokenACS: boolean } }).tput.brokenACS = true;
  return gridScreen(screen, input, options);
}

interface ScreenOptions {
  readonly color: boolean;
  /** The terminal shows no UTF-8. */
  readonly ascii?: boolean;
}

function gridScreen(screen: Widgets.Screen, input: KeyInput, options: ScreenOptions): GridScreen {
  const buffer = screen as unknown as CellBuffer;
  const { program } = screen;
  /** The last line drawn into each row of the buffer; a resize replaces the rows. */
  const drawn: { readonly row: Row | undefined; readonly line: Line | undefined }[] = [];
  let closed = false;
  return {
    size: () => ({ width: program.cols, height: program.rows }),
    draw(lines) {
      if (closed) return;
      for (const [y, row] of buffer.lines.entries()) {
        const [line, before] = [lines[y], drawn[y]];
        if (before !== undefined && before.row === row && looksAlike(before.line, line)) continue;
        paint(buffer, y, rowOf(line, row.length, options));
        drawn[y] = { row: buffer.lines[y], line };
      }
      buffer.draw(0, buffer.lines.length - 1);
      program.flush();
    },
    onKey(listener) {
      screen.on("keypress", (char: string | undefined, key: { full?: string }) => {
        const name = key.full ?? char;
        // blessed reports Enter twice, as `enter` and as `return`.
        if (name !== undefined && name !== "return") listener(name, char);
      });
    },
    onPaste(listener) {
      input.pasted = listener;
      program.write(BRACKETED_PASTE_ON);
    },
    onMouse(listener) {
      program.on("mouse", ({ action, button, y, raw }: MouseReport) => {
        if (action === "mousedown" && button === "left") listener("press", y);
        // blessed reports a wheel that turns to the left or right, too.
        if (raw === undefined || (raw[0] & 2) !== 0) return;
        if (action === "wheelup") listener("wheel-up", y);
        if (action === "wheeldown") listener("wheel-down", y);
      });
      // No cell motion: blessed reports each step of a drag as a press.
      program.setMouse({ vt200Mouse: true, sgrMouse: true }, true);
    },
    onResize(listener) {
      // blessed's own listener runs first, so its buffers have the new size already.
      program.on("resize", listener);
    },
    close() {
      if (closed) return;
      closed = true;
      program.disableMouse();
      program.write(BRACKETED_PASTE_OFF);
      screen.destroy();
      input.close();
    },
  };
}

/** Puts a row into the buffer. A changed row is sent completely, since a wide character moves the cells after it. */
function paint(buffer: CellBuffer, y: number, row: Cell[]): void {
  const old = buffer.lines[y];
  const sent = buffer.olines[y];
  if (old === undefined || sent === undefined) return;
  const same = row.every(([attribute, char], x) => sent[x]?.[0] === attribute && sent[x]?.[1] === char);
  buffer.lines[y] = Object.assign(row, { dirty: !same });
  if (!same) for (const cell of sent) cell[1] = "\0";
}

function looksAlike(a: Line | undefined, b: Line | undefined): boolean {
  const [these = [], those = []] = [a?.spans, b?.spans];
  return (
    these.length === those.length &&
    these.every((span, i) => {
      const other = those[i];
      return other?.text === span.text && other.fg === span.fg && flagsOf(other) === flagsOf(span);
    })
  );
}

function rowOf(line: Line | undefined, width: number, { color, ascii = false }: ScreenOptions): Cell[] {
  const row: Cell[] = [];
  for (const span of line?.spans ?? []) {
    const attribute = attributeOf(span, color);
    for (const { char, width: taken } of cells(span.text)) {
      if (taken === 0 || row.length + taken > width) continue;
      if (ascii) {
        for (const sign of asciiSigns(char, taken)) row.push([attribute, sign]);
        continue;
      }
      row.push([attribute, char]);
      // The second cell of a wide character has no character.
      if (taken === 2) row.push([attribute, ""]);
    }
  }
  const plain = attributeOf({}, color);
  while (row.length < width) row.push([plain, " "]);
  return row;
}

/** Returns the ASCII form of a character: one sign for each of its cells. */
function asciiSigns(char: string, taken: number): string {
  const signs = asciiRow(char);
  return signs.length === taken ? signs : "?".repeat(taken);
}

/** blessed's packing: flags, nine bits of foreground, nine of background. */
function attributeOf(style: SpanStyle, color: boolean): number {
  const fg = color && style.fg !== undefined ? style.fg : DEFAULT_COLOR;
  return (flagsOf(style) << 18) | (fg << 9) | DEFAULT_COLOR;
}

function flagsOf({ bold, underline, blink, reverse }: SpanStyle): number {
  const flags: readonly (readonly [boolean | undefined, number])[] = [
    [bold, BOLD],
    [underline, UNDERLINE],
    [blink, BLINK],
    [reverse, REVERSE],
  ];
  return flags.reduce((all, [isSet, flag]) => (isSet === true ? all | flag : all), 0);
}
