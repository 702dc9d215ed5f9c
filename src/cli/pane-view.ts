import type { AgentEvent } from "../agent/events.ts";
import { operand } from "../os/shell-words.ts";
import { paletteIndex, TONE } from "../os/terminal-colors.ts";
import { type ControlStripper, controlStripper, cutToWidth, gridText } from "../os/terminal-text.ts";
import type { ShownAsk, WorkerView } from "../worker/view.ts";
import { type Block, excerpt, type Ink, type Paint, painter, paper } from "./pane-paper.ts";
import type { TypingRow } from "./typing-row.ts";

export interface PaneViewOptions {
  write(text: string): void;
  readonly name: string;
  /** The member's colour; the lead has none. */
  readonly color?: string | undefined;
  /** Columns of the terminal now. */
  width(): number;
  /** No colours: not a terminal, or NO_COLOR. */
  readonly plain: boolean;
  /** Rings the terminal's bell when it waits for a person, who may look elsewhere. */
  readonly rings?: boolean;
  /** Nobody can type an answer here: a command alone gives it. */
  readonly deaf?: boolean;
  /** Shows messages and results whole instead of their first rows. */
  readonly whole?: boolean;
  /** Where a person types, and sees what of that waits. */
  readonly typing?: Pick<TypingRow, "hold" | "release"> | undefined;
}

/** Who is at work here, for the first lines of a pane. */
export interface PaneHeader {
  readonly team: string;
  readonly agentType?: string | undefined;
  readonly model?: string | undefined;
  readonly cwd: string;
  /** What it may do unasked. */
  readonly mode?: string;
  /** What a person can do here. */
  readonly hint?: string;
}

/** An agent's own pane: what it says and does, as it does it. */
export interface PaneView extends WorkerView {
  header(header: PaneHeader): void;
  /** What somebody here asked this program for; its rows are fit to be shown. */
  answer(text: string): void;
  /** It agreed to end, and ends. */
  shutdownAgreed(): void;
  /**
   * Nothing more comes.
   * @param lastWords shown once more where something else came behind them
   * @param epilogue a notice behind all
   */
  end(lastWords?: string, epilogue?: string): void;
}

/** Rows of a tool's result that are shown; the conversation's log has all of it. */
const RESULT_ROWS = 4;
/** Rows of a message that begins a turn, and of a notice. */
const MESSAGE_ROWS = 12;
/** Rows of a change that is asked for; `teams approvals <id>` has all of it. */
const CHANGE_ROWS = 16;
const LEAST_WIDTH = 20;

/**
 * Writes a member's pane as lines, broken at blanks, that the terminal scrolls by itself: nothing is ever drawn over, so
 * that a person can scroll back, copy and resize. Everything foreign goes through the control stripper first.
 */
export function createPaneView(options: PaneViewOptions): PaneView {
  const page = pageOf(options);
  const { paint, own, notice } = page;
  const ring = (): void => {
    if (options.rings === true) options.write("\x07");
  };
  return {
    event: eventWriter(page),
    header({ team, agentType, model, cwd, mode, hint }) {
      page.begin("notice");
      const facts = [`team ${team}`, agentType, model, mode === "default" ? undefined : mode, cwd].filter(
        (fact) => fact !== undefined && fact !== "",
      );
      page.row(`${paint(own, "▌")} ${paint("bold", paint(own, gridText(options.name)))}`);
      for (const text of [facts.join(" · "), hint ?? ""]) {
        if (text === "") continue;
        page.row(`${paint(own, "▌")} ${paint(TONE.quiet, cutToWidth(gridText(text), page.width() - 2))}`);
      }
    },
    received(from, text, color) {
      page.begin("message");
      page.row(paint(paletteIndex(color), `◂ ${gridText(from)}`));
      for (const row of excerpt(text, page.messageRows, page.width() - 2)) page.row(`  ${row}`);
    },
    queued(from, line) {
      if (line !== undefined && options.typing !== undefined) return options.typing.hold(line);
      return page.aside(() => notice("◂", `queued: message from ${from}`, TONE.quiet));
    },
    typed(line) {
      options.typing?.release(line);
      page.begin("message");
      page.row(paint("bold", `› ${gridText(line)}`));
    },
    idle: () => notice("○", "idle", TONE.quiet),
    waiting(what) {
      page.wholeNotice("▲", what, TONE.attention);
      ring();
    },
    permission(ask) {
      askOn(page, ask, options.deaf === true);
      ring();
    },
    answer: (text) =>
      page.aside(() => {
        page.begin("message");
        for (const row of text.split("\n")) page.row(row);
      }),
    shutdownAgreed: () => notice("○", "agreed to shut down", TONE.quiet),
    end: (lastWords, epilogue) => page.end(lastWords, epilogue),
    note: (text) => page.aside(() => notice("·", text, TONE.quiet)),
    error: (text) => notice("✗", text, TONE.bad),
  };
}

/** Puts a question for a permission: what would run, what that changes, why it asks, and how it is answered. */
function askOn(
  page: Page,
  { id, tool, summary, whose, reason, rules, change }: ShownAsk,
  deaf: boolean,
): void {
  const { paint } = page;
  const by = whose === undefined ? "" : `${whose}: `;
  page.notice("▲", `May it run? ${gridText(`${by}${tool}(${summary})`)}`, TONE.attention);
  const quietRow = (text: string): void =>
    page.row(`  ${paint(TONE.quiet, cutToWidth(gridText(text), page.width() - 2))}`);
  for (const row of excerpt(change.join("\n"), page.changeRows, page.width() - 2)) page.row(`  ${row}`);
  if (reason !== "") quietRow(reason);
  const target = operand(gridText(id));
  if (deaf) {
    quietRow(`teams approve ${target}, or: teams reject ${target}`);
    return;
  }
  const answers = [
    `${paint("bold", "y")} yes`,
    `${paint("bold", "n")} no`,
    ...(rules.length === 0 ? [] : [`${paint("bold", "a")} always`]),
  ];
  page.row(`  ${answers.join("   ")}   ${paint(TONE.quiet, `or: teams approve ${target}`)}`);
  if (rules.length > 0) quietRow(`always: ${rules.join(", ")}`);
}

/** The paper of one pane with the pens of its member. */
interface Page {
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

function pageOf(options: PaneViewOptions): Page {
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

function eventWriter(page: Page): (event: AgentEvent) => void {
  const { paint, notice } = page;
  /** The call whose result would stand right below it. */
  let open: string | undefined;

  const toolStarted = ({ id, tool, summary }: Extract<AgentEvent, { type: "tool_started" }>): void => {
    page.begin("tool");
    const what = cutToWidth(gridText(summary), Math.max(8, page.width() - 5 - tool.length));
    page.row(`${paint(page.own, "●")} ${paint("bold", gridText(tool))}${paint(TONE.quiet, `(${what})`)}`);
    open = id;
  };
  const toolEnded = (event: Extract<AgentEvent, { type: "tool_ended" }>): void => {
    const { id, tool, isError } = event;
    const text = event.display ?? event.content;
    page.begin("tool");
    const shown = text.trim() === "" ? "(no output)" : text;
    // Below other calls it says whose it is, and begins right behind that.
    const rows = excerpt(open === id ? shown : `${gridText(tool)}: ${shown.trimStart()}`, page.resultRows);
    for (const [i, row] of rows.entries()) {
      const line = `${i === 0 ? "  ⎿ " : "    "}${cutToWidth(row, page.width() - 5)}`;
      page.row(paint(isError ? TONE.bad : TONE.quiet, line));
    }
  };
  const decided = ({ tool, allowed, reason }: Extract<AgentEvent, { type: "permission_decided" }>): void => {
    const decision = `${tool} ${allowed ? "allowed when asked" : "refused"}`;
    notice(allowed ? "✓" : "✗", reason === undefined ? decision : `${decision}: ${reason}`, TONE.quiet);
  };

  return (event) => {
    switch (event.type) {
      case "text":
        page.say(event.text);
        break;
      case "text_dropped":
        notice("↻", "the connection broke: the text above does not count", TONE.attention);
        break;
      case "message":
        page.paragraphEnds();
        break;
      case "tool_started":
        toolStarted(event);
        return;
      case "tool_ended":
        toolEnded(event);
        break;
      case "permission_asked":
        // The question itself is put by `permission`, which knows the request's id.
        break;
      case "permission_decided":
        // What a rule allowed without asking anybody is no news.
        if (!event.asked && event.allowed) return;
        decided(event);
        break;
      case "hook":
        notice("·", `hook ${event.event}: ${event.text}`, TONE.quiet);
        break;
      case "throttled":
        notice("◑", throttledText(event), TONE.attention);
        break;
      case "compacting":
        notice("↻", "the conversation has grown long: its oldest part is being summarised", TONE.quiet);
        break;
      case "compacted":
        notice(
          "↻",
          `conversation compacted: ${rounded(event.before)} → ${rounded(event.after)} tokens`,
          TONE.quiet,
        );
        if (event.noSummary !== undefined) {
          notice("✗", `no summary could be made of what is gone: ${event.noSummary}`, TONE.bad);
        }
        break;
      case "spent":
      case "model_called":
      case "hook_ran":
        // Said of calls that are shown; not a thing to see.
        return;
      case "subagent":
        page.aside(() =>
          notice("·", cutToWidth(gridText(`${event.what}: ${event.doing}`), page.width() - 2), TONE.quiet),
        );
        break;
      case "turn_ended":
        page.paragraphEnds();
        if (event.outcome === "interrupted") notice("■", "interrupted", TONE.attention);
        if (event.outcome === "failed") notice("✗", event.failure ?? "the turn failed", TONE.bad);
        break;
      case "turn_started":
        break;
    }
    open = undefined;
  };
}

/** What is a guess in part is not told to the last token. */
function rounded(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;
}

function throttledText({ reason, delayMs }: Extract<AgentEvent, { type: "throttled" }>): string {
  const seconds = Math.max(1, Math.round(delayMs / 1000));
  return `${reason}: next try in ${seconds} s`;
}
