import { cutToWidth, displayWidth } from "../text/cell-width.ts";
import { memberColor, type Style, type Styler, styler, TONE } from "../text/style.ts";
import { type ControlStripper, controlStripper, stripControls } from "../text/terminal-text.ts";
import { wordFlow, wrapRow } from "../text/word-wrap.ts";

/** The kind of a row; an empty row separates different kinds. */
type Block = "start" | "text" | "tool" | "message" | "notice";

/** Appends blocks of rows to a pane. */
interface BlockWriter {
  /** Starts a block on a new line, with an empty line above it if the kind changes. */
  begin(block: Block): void;
  row(text: string): void;
  /** Writes text that comes in pieces, without leading and trailing newlines. */
  append(text: string): void;
  /** Ends such a text: writes the word that was held. */
  flush(): void;
  /** Ends the last line. */
  end(): void;
  /** The kind of the last row. */
  last(): Block;
}

/** @param width current columns of the terminal; Infinity for no wrapping */
function blockWriter(write: (text: string) => void, width: () => number): BlockWriter {
  const words = wordFlow(width);
  let last: Block = "start";
  let atLineStart = true;
  let newlines = 0;
  return {
    begin(block) {
      const apart = last !== "start" && (block !== last || block === "message" || block === "text");
      const text = `${words.end()}${atLineStart ? "" : "\n"}${apart ? "\n" : ""}`;
      if (text !== "") write(text);
      last = block;
      atLineStart = true;
      newlines = 0;
    },
    row: (text) => write(`${text}\n`),
    append(text) {
      const body = atLineStart ? text.replace(/^\n+/, "") : text;
      const end = body.replace(/\n+$/, "");
      if (end === "") {
        newlines += body.length;
        return;
      }
      write(words.push(`${"\n".repeat(newlines)}${end}`));
      newlines = body.length - end.length;
      atLineStart = false;
    },
    last: () => last,
    flush: () => write(words.end()),
    end() {
      if (!atLineStart) write(`${words.end()}\n`);
      atLineStart = true;
      newlines = 0;
    },
  };
}

/** As {@link cutToWidth}, for a row with a {@link styler}'s styles in it. */
export function cutStyled(row: string, width: number): string {
  // The parts with odd indexes are styles.
  const parts = row.split(/(\x1b\[[0-9;]*m)/);
  const texts = parts.filter((_, i) => i % 2 === 0);
  if (displayWidth(texts.join("")) <= width) return row;
  let room = width;
  let out = "";
  for (const [i, part] of parts.entries()) {
    const isStyle = i % 2 === 1;
    const fits = isStyle || displayWidth(part) < room;
    out += fits ? part : cutToWidth(`${part}…`, room);
    if (!isStyle) room = fits ? room - displayWidth(part) : 0;
  }
  return out;
}

/**
 * Returns the first rows of a foreign text without control sequences, and the number of further rows.
 * @param width wraps rows at blanks to this width; no wrapping if omitted
 */
export function excerpt(text: string, limit: number, width = Number.POSITIVE_INFINITY): string[] {
  const rows = stripControls(text)
    .replaceAll("\t", "    ")
    .split("\n")
    .flatMap((row) => wrapRow(row.trimEnd(), width));
  const first = rows.findIndex((row) => row !== "");
  const last = rows.findLastIndex((row) => row !== "");
  const shown = rows.slice(Math.max(0, first), last + 1);
  // A row with “1 more line” would take the place of that line.
  if (shown.length <= limit + 1) return shown;
  return [...shown.slice(0, limit), `… ${shown.length - limit} more lines`];
}

/** The terminal of a pane, and the member that writes to it. */
export interface PaneWriterOptions {
  write(text: string): void;
  /** The member's colour; the lead has none. */
  readonly color?: string | undefined;
  /** Current columns of the terminal. */
  width(): number;
  /** No colours: not a terminal, or NO_COLOR. */
  readonly plain: boolean;
  /** Shows messages and results completely instead of their first rows. */
  readonly whole?: boolean;
}

/** Rows shown of a tool's result; the conversation's log has all of it. */
const RESULT_ROWS = 4;
/** Rows of a message that begins a turn, and of a notice. */
const MESSAGE_ROWS = 12;
/** Rows shown of a requested change; `teams approvals <id>` has all of it. */
const CHANGE_ROWS = 16;
const MIN_WIDTH = 20;

/** Writes one member's pane, in its styles. */
export interface PaneWriter {
  readonly styleText: Styler;
  readonly own: Style;
  /** Rows shown of a message or notice, of a tool's result, and of a change. */
  readonly messageRows: number;
  readonly resultRows: number;
  readonly changeRows: number;
  width(): number;
  begin(block: Block): void;
  row(text: string): void;
  /** Writes the agent's text, in pieces. */
  text(piece: string): void;
  /** Ends the paragraph, then shows the asides that waited for it. */
  endParagraph(): void;
  notice(sign: string, text: string, style: Style): void;
  /** As `notice`, but never shortened: for questions to the user. */
  wholeNotice(sign: string, text: string, style: Style): void;
  end(lastWords?: string, epilogue?: string): void;
  /** Shows something from outside of the turn, after the current paragraph. */
  aside(show: () => void): void;
}

export function paneWriter(options: PaneWriterOptions): PaneWriter {
  const blocks = blockWriter(options.write, () => Math.max(MIN_WIDTH, options.width()));
  const styleText = styler(options.plain);
  let stripper: ControlStripper | undefined;
  let waiting: (() => void)[] = [];
  const begin = (block: Block): void => {
    stripper = undefined;
    blocks.begin(block);
  };
  const messageRows = options.whole ? Number.POSITIVE_INFINITY : MESSAGE_ROWS;
  const put = (sign: string, text: string, style: Style, limit: number): void => {
    begin("notice");
    const rows = excerpt(text, limit, Math.max(MIN_WIDTH, options.width()) - 2);
    for (const [i, row] of rows.entries()) blocks.row(styleText(style, `${i === 0 ? sign : " "} ${row}`));
  };
  return {
    styleText,
    own: memberColor(options.color),
    messageRows,
    changeRows: options.whole ? Number.POSITIVE_INFINITY : CHANGE_ROWS,
    resultRows: options.whole ? Number.POSITIVE_INFINITY : RESULT_ROWS,
    width: () => Math.max(MIN_WIDTH, options.width()),
    begin,
    row: blocks.row,
    text(piece) {
      if (stripper === undefined) begin("text");
      stripper ??= controlStripper();
      blocks.append(stripper.push(piece));
    },
    endParagraph() {
      if (stripper !== undefined) blocks.flush();
      stripper = undefined;
      const asides = waiting;
      waiting = [];
      for (const show of asides) show();
    },
    end(lastWords = "", epilogue = "") {
      this.endParagraph();
      if (lastWords !== "" && blocks.last() !== "text") this.text(lastWords);
      this.endParagraph();
      if (epilogue !== "") this.notice("·", epilogue, TONE.quiet);
      blocks.end();
    },
    aside(show) {
      if (stripper === undefined) show();
      else waiting.push(show);
    },
    notice: (sign, text, style) => put(sign, text, style, messageRows),
    wholeNotice: (sign, text, style) => put(sign, text, style, Number.POSITIVE_INFINITY),
  };
}
