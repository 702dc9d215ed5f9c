import { MESSAGE_SIGN } from "../operations/ending/last-lines.ts";
import { operand } from "../text/shell-quote.ts";
import { memberColor, TONE } from "../text/style.ts";
import { cutToWidth, displayWidth, gridText } from "../text/terminal-text.ts";
import { wrapRow } from "../text/word-wrap.ts";
import type { PermissionPrompt, WorkerView } from "../worker/view.ts";
import type { TypingRow } from "./input-row.ts";
import { eventWriter } from "./pane-events.ts";
import { excerpt, type Page, type PageOptions, pageOf } from "./pane-writer.ts";

interface PaneViewOptions extends PageOptions {
  readonly name: string;
  /** Rings the terminal's bell when it waits for a person, who may look elsewhere. */
  readonly rings?: boolean;
  /** Nobody can type an answer here: a command alone gives it. */
  readonly deaf?: boolean;
  /** Where a person types, and sees what of that waits. */
  readonly typing?: Pick<TypingRow, "hold" | "release"> | undefined;
}

/** Who is at work here, for the first lines of a pane. */
interface PaneHeader {
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
  /** A notice that waits for no end of a paragraph: what a key that was pressed just now did. */
  atOnce(text: string): void;
  /** It agreed to end, and ends. */
  shutdownAgreed(): void;
  /**
   * Nothing more comes.
   * @param lastWords shown once more where something else came behind them
   * @param epilogue a notice behind all
   */
  end(lastWords?: string, epilogue?: string): void;
}

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
        const room = page.width() - 2;
        for (const row of wrapRow(gridText(text), room))
          page.row(`${paint(own, "▌")} ${paint(TONE.quiet, cutToWidth(row, room))}`);
      }
    },
    received(from, text, color) {
      page.begin("message");
      page.row(paint(memberColor(color), `${MESSAGE_SIGN} ${gridText(from)}`));
      for (const row of excerpt(text, page.messageRows, page.width() - 2)) page.row(`  ${row}`);
    },
    queued(from, line) {
      if (line !== undefined && options.typing !== undefined) return options.typing.hold(line);
      return page.aside(() => notice("◂", `queued: message from ${from}`, TONE.quiet));
    },
    typed(line) {
      options.typing?.release(line);
      page.begin("message");
      const rows = excerpt(line, page.messageRows, page.width() - 2);
      for (const [i, row] of rows.entries()) page.row(paint("bold", `${i === 0 ? "›" : " "} ${row}`));
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
    atOnce: (text) => notice("·", text, TONE.quiet),
    shutdownAgreed: () => notice("○", "agreed to shut down", TONE.quiet),
    end: (lastWords, epilogue) => page.end(lastWords, epilogue),
    note: (text) => page.aside(() => notice("·", text, TONE.quiet)),
    error: (text) => notice("✗", text, TONE.bad),
  };
}

/** Puts a question for a permission: what would run, what that changes, why it asks, and how it is answered. */
function askOn(
  page: Page,
  { id, tool, summary, subagent: whose, reason, rules, change }: PermissionPrompt,
  deaf: boolean,
): void {
  const { paint } = page;
  const room = page.width() - 2;
  const by = whose === undefined ? "" : `${whose}: `;
  page.notice("▲", `May it run? ${gridText(`${by}${tool}(${summary})`)}`, TONE.attention);
  const quietRows = (text: string): void => {
    for (const row of wrapRow(gridText(text), room)) page.row(`  ${paint(TONE.quiet, row)}`);
  };
  for (const row of excerpt(change.join("\n"), page.changeRows, room)) page.row(`  ${row}`);
  if (reason !== "") quietRows(reason);
  const target = operand(gridText(id));
  if (deaf) {
    quietRows(`teams approve ${target}, or: teams reject ${target}`);
    return;
  }
  const keys = [["y", "yes"], ["n", "no"], ...(rules.length === 0 ? [] : [["a", "always"]])];
  const answers = keys.map(([key = "", word]) => `${paint("bold", key)} ${word}`).join("   ");
  const command = `or: teams approve ${target}`;
  const fits = displayWidth(`${keys.map((words) => words.join(" ")).join("   ")}   ${command}`) <= room;
  page.row(`  ${answers}${fits ? `   ${paint(TONE.quiet, command)}` : ""}`);
  if (!fits) quietRows(command);
  // In as many rows as they take: whoever presses the key allows all of them.
  if (rules.length > 0) quietRows(`always: ${rules.join(", ")}`);
}
