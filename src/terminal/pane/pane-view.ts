import { MESSAGE_SIGN } from "../../operations/ending/last-lines.ts";
import { after } from "../../os/clock.ts";
import { asciiRow } from "../../text/ascii.ts";
import { cutToWidth } from "../../text/cell-width.ts";
import { memberColor, TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import { wrapRow } from "../../text/word-wrap.ts";
import type { PermissionPrompt, WorkerView } from "../../worker/view.ts";
import type { LiveRegion } from "../live-region.ts";
import { followActivity } from "./activity.ts";
import { eventWriter } from "./pane-events.ts";
import { excerpt, type PaneWriterOptions, paneWriter } from "./pane-writer.ts";
import { explanation, showPermission } from "./permission-prompt.ts";
import { resultWriter } from "./tool-result.ts";

interface PaneViewOptions extends Omit<PaneWriterOptions, "live"> {
  readonly name: string;
  /** Rings the terminal's bell when the agent waits for the user. */
  readonly rings?: boolean;
  /** No answer can be typed here: the user answers with a command. */
  readonly readOnly?: boolean;
  /** The last rows of the terminal, which are redrawn. */
  readonly region?: PaneRegion | undefined;
}

export type PaneRegion = Pick<LiveRegion, "hold" | "release" | "activity" | "progress" | "prompt">;

/** Milliseconds in which a pressed key cannot be meant for a question that has just appeared; then the pane shows the keys. */
const SURPRISE_MS = 400;

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
  /** Returns the id of the shown request if this key, pressed now, answers it. */
  answers(char: string): string | undefined;
  /** Shows more about the permission request that is open. */
  explain(): void;
  /** Shows the newest shortened result as a whole; each further time the one before it. */
  expand(): void;
  /** Shows earlier output again, at most as much as fits on the screen. */
  replay(show: (view: WorkerView) => void): void;
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
  const { region } = options;
  /** What is replayed, until its end is shown. */
  let replayed: string | undefined;
  const out = options.abilities?.ascii ? (text: string) => options.write(asciiRow(text)) : options.write;
  const write = (text: string): void => {
    if (replayed === undefined) out(text);
    else replayed += text;
  };
  const pane = paneWriter({ ...options, write, live: region });
  const { styleText, own, notice } = pane;
  const results = resultWriter(pane);
  const writeEvent = eventWriter(pane, results);
  const activity =
    region === undefined
      ? undefined
      : followActivity({ place: region, styleText, own, cwd: pane.cwd, width: pane.width });
  /** The permission request that is open and shown. */
  let open: PermissionPrompt | undefined;
  /** The keys that answer it now. */
  let keys: readonly string[] = [];
  let cancelKeys = (): void => undefined;
  const closePermission = (): void => {
    cancelKeys();
    open = undefined;
    keys = [];
    activity?.ask(undefined);
  };
  const ring = (): void => {
    if (options.rings === true) options.write("\x07");
  };
  const view: PaneView = {
    event(event) {
      writeEvent(event);
      if (replayed === undefined) activity?.event(event);
    },
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
      if (line !== undefined && region !== undefined) return region.hold(line);
      return pane.aside(() => notice("◂", `queued: message from ${from}`, TONE.quiet));
    },
    saving(line) {
      if (region === undefined) {
        pane.aside(() =>
          notice("◂", "your line waits for the inbox, which another process has locked", TONE.quiet),
        );
        return () => undefined;
      }
      region.hold(line);
      return () => region.release(line);
    },
    typed(line) {
      region?.release(line);
      pane.begin("message");
      const rows = excerpt(line, pane.messageRows, pane.width() - 2);
      for (const [i, row] of rows.entries()) pane.row(styleText("bold", `${i === 0 ? "›" : " "} ${row}`));
    },
    idle() {
      activity?.stop();
      notice("○", "idle", TONE.quiet);
    },
    waiting(what) {
      pane.wholeNotice("▲", what, TONE.attention);
      ring();
    },
    permission(ask) {
      closePermission();
      const shown = showPermission(pane, ask, options.readOnly === true);
      if (ask.whole !== true) ring();
      open = ask;
      cancelKeys = after(SURPRISE_MS, () => {
        ({ keys } = shown);
        activity?.ask(shown.keysRow);
      });
      return shown.isAll;
    },
    mode: (mode) => region?.prompt(mode === "default" ? "" : mode),
    permissionClosed: closePermission,
    answers: (char) => (keys.includes(char) ? open?.id : undefined),
    explain() {
      if (open !== undefined) pane.wholeNotice("?", explanation(open, pane.ascii), TONE.quiet);
    },
    expand() {
      if (!results.expand()) notice("·", "no result is shortened", TONE.quiet);
    },
    answer: (text) =>
      pane.aside(() => {
        pane.begin("message");
        for (const row of text.split("\n")) pane.row(row);
      }),
    noteAtOnce: (text) => notice("·", text, TONE.quiet),
    shutdownAgreed: () => notice("○", "agreed to shut down", TONE.quiet),
    end(lastWords, epilogue) {
      activity?.stop();
      pane.end(lastWords, epilogue);
    },
    note: (text) => pane.aside(() => notice("·", text, TONE.quiet)),
    error: (text) => notice("✗", text, TONE.bad),
    replay(show) {
      replayed = "";
      let rows: readonly string[];
      try {
        show(view);
        pane.endParagraph();
      } finally {
        rows = replayed.trimEnd().split("\n");
        replayed = undefined;
      }
      const shown = rows.slice(-Math.max(1, pane.height() - REPLAY_MARGIN));
      if (shown.some((row) => row !== "")) out(`${shown.join("\n")}\n`);
    },
  };
  return view;
}

/** Rows below the replayed output: an empty one, the activity, the input line. */
const REPLAY_MARGIN = 3;
