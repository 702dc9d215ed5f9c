import { MESSAGE_SIGN } from "../operations/ending/last-lines.ts";
import { cutToWidth, displayWidth } from "../text/cell-width.ts";
import { operand } from "../text/shell-quote.ts";
import { memberColor, TONE } from "../text/style.ts";
import { gridText } from "../text/terminal-text.ts";
import { wrapRow } from "../text/word-wrap.ts";
import type { PermissionPrompt, WorkerView } from "../worker/view.ts";
import type { TypingRow } from "./input-row.ts";
import { eventWriter } from "./pane-events.ts";
import { excerpt, type PaneWriter, type PaneWriterOptions, paneWriter } from "./pane-writer.ts";

interface PaneViewOptions extends PaneWriterOptions {
  readonly name: string;
  /** Rings the terminal's bell when the agent waits for the user. */
  readonly rings?: boolean;
  /** No answer can be typed here: the user answers with a command. */
  readonly readOnly?: boolean;
  /** The input row, which shows the lines that wait. */
  readonly typing?: Pick<TypingRow, "hold" | "release"> | undefined;
}

/** The facts in the first lines of a pane. */
interface PaneHeader {
  readonly team: string;
  readonly agentType?: string | undefined;
  readonly model?: string | undefined;
  readonly cwd: string;
  /** The permission mode. */
  readonly mode?: string;
  /** The keys that the user can press. */
  readonly hint?: string;
}

/** An agent's pane: its texts and calls as they happen. */
export interface PaneView extends WorkerView {
  header(header: PaneHeader): void;
  /** Shows the output of a command that the user typed in the pane. The text must be safe to print. */
  answer(text: string): void;
  /** Shows a notice about a pressed key at once, without waiting for the end of the paragraph. */
  noteAtOnce(text: string): void;
  /** Shows that the agent agreed to shut down. */
  shutdownAgreed(): void;
  /**
   * Ends the output.
   * @param lastWords the final text; shown again if other output came after it
   * @param epilogue a last notice
   */
  end(lastWords?: string, epilogue?: string): void;
}

/**
 * Creates the view of a member's pane. It only appends lines, wrapped at blanks, and never redraws one, so that the user can
 * scroll back, copy and resize. All foreign text goes through the control stripper first.
 */
export function createPaneView(options: PaneViewOptions): PaneView {
  const pane = paneWriter(options);
  const { styleText, own, notice } = pane;
  const ring = (): void => {
    if (options.rings === true) options.write("\x07");
  };
  return {
    event: eventWriter(pane),
    header({ team, agentType, model, cwd, mode, hint }) {
      pane.begin("notice");
      const facts = [`team ${team}`, agentType, model, mode === "default" ? undefined : mode, cwd].filter(
        (fact) => fact !== undefined && fact !== "",
      );
      pane.row(`${styleText(own, "▌")} ${styleText("bold", styleText(own, gridText(options.name)))}`);
      for (const text of [facts.join(" · "), hint ?? ""]) {
        if (text === "") continue;
        const room = pane.width() - 2;
        for (const row of wrapRow(gridText(text), room))
          pane.row(`${styleText(own, "▌")} ${styleText(TONE.quiet, cutToWidth(row, room))}`);
      }
    },
    received(from, text, color) {
      pane.begin("message");
      pane.row(styleText(memberColor(color), `${MESSAGE_SIGN} ${gridText(from)}`));
      for (const row of excerpt(text, pane.messageRows, pane.width() - 2)) pane.row(`  ${row}`);
    },
    queued(from, line) {
      if (line !== undefined && options.typing !== undefined) return options.typing.hold(line);
      return pane.aside(() => notice("◂", `queued: message from ${from}`, TONE.quiet));
    },
    typed(line) {
      options.typing?.release(line);
      pane.begin("message");
      const rows = excerpt(line, pane.messageRows, pane.width() - 2);
      for (const [i, row] of rows.entries()) pane.row(styleText("bold", `${i === 0 ? "›" : " "} ${row}`));
    },
    idle: () => notice("○", "idle", TONE.quiet),
    waiting(what) {
      pane.wholeNotice("▲", what, TONE.attention);
      ring();
    },
    permission(ask) {
      askOn(pane, ask, options.readOnly === true);
      ring();
    },
    answer: (text) =>
      pane.aside(() => {
        pane.begin("message");
        for (const row of text.split("\n")) pane.row(row);
      }),
    noteAtOnce: (text) => notice("·", text, TONE.quiet),
    shutdownAgreed: () => notice("○", "agreed to shut down", TONE.quiet),
    end: (lastWords, epilogue) => pane.end(lastWords, epilogue),
    note: (text) => pane.aside(() => notice("·", text, TONE.quiet)),
    error: (text) => notice("✗", text, TONE.bad),
  };
}

/** Shows a permission request: the call, its change, the reason, and how to answer. */
function askOn(
  pane: PaneWriter,
  { id, tool, summary, subagent: whose, reason, rules, change }: PermissionPrompt,
  readOnly: boolean,
): void {
  const { styleText } = pane;
  const room = pane.width() - 2;
  const by = whose === undefined ? "" : `${whose}: `;
  pane.notice("▲", `May it run? ${gridText(`${by}${tool}(${summary})`)}`, TONE.attention);
  const quietRows = (text: string): void => {
    for (const row of wrapRow(gridText(text), room)) pane.row(`  ${styleText(TONE.quiet, row)}`);
  };
  for (const row of excerpt(change.join("\n"), pane.changeRows, room)) pane.row(`  ${row}`);
  if (reason !== "") quietRows(reason);
  const target = operand(gridText(id));
  if (readOnly) {
    quietRows(`teams approve ${target}, or: teams reject ${target}`);
    return;
  }
  const keys = [["y", "yes"], ["n", "no"], ...(rules.length === 0 ? [] : [["a", "always"]])];
  const answers = keys.map(([key = "", word]) => `${styleText("bold", key)} ${word}`).join("   ");
  const command = `or: teams approve ${target}`;
  const fits = displayWidth(`${keys.map((words) => words.join(" ")).join("   ")}   ${command}`) <= room;
  pane.row(`  ${answers}${fits ? `   ${styleText(TONE.quiet, command)}` : ""}`);
  if (!fits) quietRows(command);
  // Never cut: the key allows all of these rules.
  if (rules.length > 0) quietRows(`always: ${rules.join(", ")}`);
}
