import { paletteIndex, TONE } from "../os/terminal-colors.ts";
import { type ControlStripper, controlStripper } from "../os/terminal-text.ts";
import { type Block, excerpt, type Ink, type Paint, painter, paper } from "./pane-paper.ts";

/** What a page is written on, and by whom. */
export interface PageOptions {
  write(text: string): void;
  /** The member's colour; the lead has none. */
  readonly color?: string | undefined;
  /** Columns of the terminal now. */
  width(): number;
  /** No colours: not a terminal, or NO_COLOR. */
  readonly plain: boolean;
  /** Shows messages and results whole instead of their first rows. */
  readonly whole?: boolean;
}

/** Rows of a tool's result that are shown; the conversation's log has all of it. */
const RESULT_ROWS = 4;
/** Rows of a message that begins a turn, and of a notice. */
const MESSAGE_ROWS = 12;
/** Rows of a change that is asked for; `teams approvals <id>` has all of it. */
const CHANGE_ROWS = 16;
const LEAST_WIDTH = 20;

/** The paper of one pane with the pens of its member. */
export interface Page {
  readonly paint: Paint;
  readonly own: Ink;
  /** Rows of a message or notice, and of a tool's result, that are shown. */
  readonly messageRows: number;
  readonly resultRows: number;
  readonly changeRows: number;
  width(): number;
  begin(block: Block): void;
  row(text: string): void;
  /** The agent's own words, in pieces. */
  say(piece: string): void;
  /** What comes next is a paragraph of its own. */
  paragraphEnds(): void;
  notice(sign: string, text: string, ink: Ink): void;
  /** What a person is asked is shown whole. */
  wholeNotice(sign: string, text: string, ink: Ink): void;
  end(lastWords?: string, epilogue?: string): void;
  /** News from outside of the turn: behind the paragraph that is being said, not in the middle of it. */
  aside(show: () => void): void;
}

export function pageOf(options: PageOptions): Page {
  const sheet = paper(options.write, () => Math.max(LEAST_WIDTH, options.width()));
  const paint = painter(options.plain);
  let stripper: ControlStripper | undefined;
  let waiting: (() => void)[] = [];
  const begin = (block: Block): void => {
    stripper = undefined;
    sheet.begin(block);
  };
  const messageRows = options.whole ? Number.POSITIVE_INFINITY : MESSAGE_ROWS;
  const put = (sign: string, text: string, ink: Ink, most: number): void => {
    begin("notice");
    const rows = excerpt(text, most, Math.max(LEAST_WIDTH, options.width()) - 2);
    for (const [i, row] of rows.entries()) sheet.row(paint(ink, `${i === 0 ? sign : " "} ${row}`));
  };
  return {
    paint,
    own: paletteIndex(options.color),
    messageRows,
    changeRows: options.whole ? Number.POSITIVE_INFINITY : CHANGE_ROWS,
    resultRows: options.whole ? Number.POSITIVE_INFINITY : RESULT_ROWS,
    width: () => Math.max(LEAST_WIDTH, options.width()),
    begin,
    row: sheet.row,
    say(piece) {
      if (stripper === undefined) begin("text");
      stripper ??= controlStripper();
      sheet.flow(stripper.push(piece));
    },
    paragraphEnds() {
      if (stripper !== undefined) sheet.settle();
      stripper = undefined;
      const asides = waiting;
      waiting = [];
      for (const show of asides) show();
    },
    end(lastWords = "", epilogue = "") {
      this.paragraphEnds();
      if (lastWords !== "" && sheet.at() !== "text") this.say(lastWords);
      this.paragraphEnds();
      if (epilogue !== "") this.notice("·", epilogue, TONE.quiet);
      sheet.end();
    },
    aside(show) {
      if (stripper === undefined) show();
      else waiting.push(show);
    },
    notice: (sign, text, ink) => put(sign, text, ink, messageRows),
    wholeNotice: (sign, text, ink) => put(sign, text, ink, Number.POSITIVE_INFINITY),
  };
}
