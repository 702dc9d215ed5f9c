import { withoutEnd } from "../../text/line-ends.ts";
import { markdownRows } from "../../text/markdown/rows.ts";
import { memberColor, type Style, type Styler, styler, TONE } from "../../text/style.ts";
import { type ControlStripper, controlStripper, stripControls } from "../../text/terminal-text.ts";
import { wordFlow, wrapRow } from "../../text/word-wrap.ts";
import type { TerminalAbilities } from "../terminal-abilities.ts";
import type { ActivityPlace } from "./activity.ts";
import { type BlockFlow, markdownFlow } from "./markdown-flow.ts";

/** The kind of a row; an empty row separates different kinds. */
type Block = "start" | "text" | "tool" | "message" | "notice";

/** Appends blocks of rows to a pane. */
interface BlockWriter {
  /** Starts a block on a new line, with an empty line above it if the kind changes. */
  begin(block: Block): void;
  row(text: string): void;
  /** Writes text that comes in pieces, without leading and trailing newlines. */
  append(text: string): void;
  /** Ends the text of `append`: writes the held word. */
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
      const end = withoutEnd(body, "\n");
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

/**
 * Returns the first rows of a foreign text without control sequences, and the number of remaining rows.
 * @param width wraps rows at spaces to this width; no wrapping if omitted
 */
export function excerpt(text: string, limit: number, width = Number.POSITIVE_INFINITY): string[] {
  return firstRows(rowsOf(text, width), limit);
}

/** Returns all rows of a foreign text without control sequences. */
export function rowsOf(text: string, width: number): string[] {
  const rows = stripControls(text)
    .replaceAll("\t", "    ")
    .split("\n")
    .flatMap((row) => wrapRow(row.trimEnd(), width));
  const first = rows.findIndex((row) => row !== "");
  const last = rows.findLastIndex((row) => row !== "");
  return rows.slice(Math.max(0, first), last + 1);
}

/** Returns as many rows as the limit permits, and the number of remaining rows. @param hint says how to see them */
export function firstRows(rows: string[], limit: number, hint = ""): string[] {
  // A row with “1 more line” would take the place of that line.
  if (rows.length <= limit + 1) return rows;
  return [...rows.slice(0, limit), `… ${rows.length - limit} more lines${hint}`];
}

/** The terminal of a pane, and the member that writes to it. */
export interface PaneWriterOptions {
  write(text: string): void;
  /** The member's colour; the lead has none. */
  readonly color?: string | undefined;
  /** Current columns of the terminal. */
  width(): number;
  /** Current rows of the terminal; no limit if omitted. */
  height?(): number;
  /** No colours: not a terminal, or NO_COLOR. */
  readonly plain: boolean;
  /** The agent's working directory: paths of its files are shown relative to it. */
  readonly cwd?: string | undefined;
  /** Renders the agent's text as Markdown; always with `live`. */
  readonly markdown?: boolean;
  /** The abilities of the terminal. */
  readonly abilities?: TerminalAbilities;
  /** The terminal shows this pane among other views: its keys work there, and no command does. */
  readonly isHosted?: boolean;
  /** Shows messages and results completely instead of their first and last rows. */
  readonly whole?: boolean;
  /** Rows below the output, which are redrawn. With them, text comes block by block and calls appear with their results. */
  readonly live?: ActivityPlace | undefined;
}

/** Maximum rows shown of a tool's result; the conversation's log has all of it. */
const RESULT_ROWS = 6;
/** Maximum rows of a message that begins a turn, and of a notice. */
const MESSAGE_ROWS = 12;
/** Maximum rows shown of a requested change; `teams approvals <id>` has all of it. */
const CHANGE_ROWS = 16;
const MIN_WIDTH = 20;

/** Writes one member's pane, in its styles. */
export interface PaneWriter {
  readonly styleText: Styler;
  /** No colours. */
  readonly plain: boolean;
  /** True if the terminal cannot show UTF-8. */
  readonly ascii: boolean;
  readonly cwd: string | undefined;
  readonly own: Style;
  /** Rows shown of a message or notice, of a tool's result, and of a change. */
  readonly messageRows: number;
  readonly resultRows: number;
  readonly changeRows: number;
  readonly live: ActivityPlace | undefined;
  readonly isHosted: boolean;
  width(): number;
  height(): number;
  begin(block: Block): void;
  /** The kind of the last row. */
  last(): Block;
  row(text: string): void;
  /** Returns the rows of a text of another agent, as Markdown if this agent's text is rendered. */
  textRows(text: string, width: number): string[];
  /** Writes the agent's text, in pieces. */
  text(piece: string): void;
  /** Ends the paragraph, then shows the asides that waited for it. */
  endParagraph(): void;
  /** Runs a function that writes other texts. After them the current paragraph continues; without Markdown, a new one begins. */
  apart(write: () => void): void;
  /** Discards text that is not shown yet. @returns whether all of the paragraph is discarded */
  dropText(): boolean;
  notice(sign: string, text: string, style: Style, block?: Block): void;
  /** Like `notice`, but never shortened: for questions to the user. */
  wholeNotice(sign: string, text: string, style: Style): void;
  end(lastWords?: string, epilogue?: string): void;
  /** Shows something from outside the turn, after the current paragraph. */
  aside(show: () => void): void;
}

export function paneWriter(options: PaneWriterOptions): PaneWriter {
  const blocks = blockWriter(options.write, () => Math.max(MIN_WIDTH, options.width()));
  const styleText = styler(options.plain);
  const { live } = options;
  const width = (): number => Math.max(MIN_WIDTH, options.width());
  let stripper: ControlStripper | undefined;
  const markdownOptions = () => ({ width: width() - 1, style: styleText, ...options.abilities });
  /** The Markdown of the current paragraph. */
  let flow: BlockFlow | undefined;
  let waiting: (() => void)[] = [];
  const begin = (block: Block): void => {
    stripper = undefined;
    blocks.begin(block);
  };
  const isMarkdown = live !== undefined || options.markdown === true;
  const isAlone = (isFirst: boolean): boolean => isFirst || blocks.last() !== "text";
  const withoutGap = (rows: readonly string[]): readonly string[] => (rows[0] === "" ? rows.slice(1) : rows);
  const showBlock = (rows: readonly string[], isFirst: boolean): void => {
    const isApart = isAlone(isFirst);
    if (isApart) begin("text");
    for (const row of isApart ? withoutGap(rows) : rows) blocks.row(row);
  };
  /** Returns the rows that the block in progress will have, so that nothing moves when it is complete. */
  const progressRows = (): readonly string[] => {
    const rows = flow?.rest() ?? [];
    if (rows.length === 0 || !isAlone(flow?.isFresh === true)) return rows;
    return blocks.last() === "start" ? withoutGap(rows) : ["", ...withoutGap(rows)];
  };
  const messageRows = options.whole ? Number.POSITIVE_INFINITY : MESSAGE_ROWS;
  const put = (sign: string, text: string, style: Style, limit: number, block: Block = "notice"): void => {
    begin(block);
    const rows = excerpt(text, limit, Math.max(MIN_WIDTH, options.width()) - 2);
    for (const [i, row] of rows.entries()) blocks.row(styleText(style, `${i === 0 ? sign : " "} ${row}`));
  };
  return {
    styleText,
    plain: options.plain,
    ascii: options.abilities?.ascii === true,
    cwd: options.cwd,
    own: memberColor(options.color),
    live,
    isHosted: options.isHosted === true,
    messageRows,
    changeRows: options.whole ? Number.POSITIVE_INFINITY : CHANGE_ROWS,
    resultRows: options.whole ? Number.POSITIVE_INFINITY : RESULT_ROWS,
    width,
    height: () => options.height?.() ?? Number.POSITIVE_INFINITY,
    begin,
    last: blocks.last,
    row: blocks.row,
    textRows: (text, columns) =>
      isMarkdown ? markdownRows(text, { ...markdownOptions(), width: columns }) : rowsOf(text, columns),
    text(piece) {
      if (isMarkdown) {
        flow ??= markdownFlow({ options: markdownOptions, show: showBlock });
        flow.push(piece);
        live?.progress(progressRows);
        return;
      }
      if (stripper === undefined) begin("text");
      stripper ??= controlStripper();
      blocks.append(stripper.push(piece));
    },
    dropText() {
      const isAll = flow?.isFresh === true;
      flow = undefined;
      live?.progress(undefined);
      return isAll;
    },
    endParagraph() {
      if (stripper !== undefined) blocks.flush();
      stripper = undefined;
      flow?.end();
      flow = undefined;
      live?.progress(undefined);
      const asides = waiting;
      waiting = [];
      for (const show of asides) show();
    },
    apart(write) {
      const current = { flow, waiting };
      flow = undefined;
      waiting = [];
      stripper = undefined;
      try {
        write();
        this.endParagraph();
      } finally {
        ({ flow, waiting } = current);
        if (flow !== undefined) live?.progress(progressRows);
      }
    },
    end(lastWords = "", epilogue = "") {
      this.endParagraph();
      if (lastWords !== "" && blocks.last() !== "text") this.text(lastWords);
      this.endParagraph();
      if (epilogue !== "") this.notice("·", epilogue, TONE.quiet);
      blocks.end();
    },
    aside(show) {
      if (stripper === undefined && flow?.isInBlock !== true) show();
      else waiting.push(show);
    },
    notice: (sign, text, style, block) => put(sign, text, style, messageRows, block),
    wholeNotice: (sign, text, style) => put(sign, text, style, Number.POSITIVE_INFINITY),
  };
}
