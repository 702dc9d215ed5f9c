import { MESSAGE_SIGN } from "../../operations/ending/last-lines.ts";
import { asciiRow } from "../../text/ascii.ts";
import { wrapStyled } from "../../text/cut-styled.ts";
import { memberColor, TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import type { WorkerView } from "../../worker/view.ts";
import type { LiveRegion } from "../live/live-region.ts";
import { followActivity } from "./activity.ts";
import { openRequests } from "./open-requests.ts";
import { eventWriter } from "./pane-events.ts";
import { type PaneHeader, writeHeader } from "./pane-header.ts";
import { excerpt, type PaneWriterOptions, paneWriter } from "./pane-writer.ts";
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

export type PaneRegion = Pick<
  LiveRegion,
  "hold" | "release" | "activity" | "progress" | "prompt" | "question" | "together"
>;

/** An agent's pane: its texts and calls as they happen. */
export interface PaneView extends WorkerView {
  header(header: PaneHeader): void;
  /** Shows the output of a command that the user typed in the pane. The text must be safe to print. */
  answer(text: string): void;
  /** Shows a notice about a pressed key at once, without waiting for the end of the paragraph. */
  noteAtOnce(text: string): void;
  /** A live pane leaves out the next note with this text: its input line says it already. */
  leaveOut(text: string): void;
  /** Returns the id of the shown request if this key, pressed now, answers it. */
  answers(char: string): string | undefined;
  /** Shows more about the permission request that is open. */
  explain(): void;
  /** Shows the newest shortened result in full; each later call shows the result before it. */
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
 * Creates the view of a member's pane. It only appends lines, wrapped at spaces, and never redraws one, so that the user can
 * scroll back, copy and resize. All foreign text goes through the control stripper first.
 */
export function createPaneView(options: PaneViewOptions): PaneView {
  const { region } = options;
  /** The replayed text, until its end is shown. */
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
  const requests = openRequests({
    pane,
    region,
    activity,
    name: options.name,
    readOnly: options.readOnly === true,
  });
  let leftOut: string | undefined;
  const ring = (): void => {
    if (options.rings === true) options.write("\x07");
  };
  const view: PaneView = {
    event(event) {
      const isNow = replayed === undefined;
      if (isNow && event.type === "subagent" && activity?.subagent(event)) return;
      writeEvent(isNow ? requests.decided(event) : event);
      if (isNow) activity?.event(event);
    },
    header: (header) => writeHeader(pane, options.name, header),
    received(from, text, color) {
      pane.begin("message");
      pane.row(styleText(memberColor(color), `${MESSAGE_SIGN} ${gridText(from)}`));
      results.message(text, `message from ${gridText(from)}`);
    },
    queued(from, line) {
      if (line !== undefined && region !== undefined) return region.hold(line);
      return pane.aside(() => notice("◂", `queued: message from ${from}`, TONE.quiet));
    },
    saving(line) {
      if (region === undefined) {
        pane.aside(() =>
          notice("◂", "your line is waiting for the inbox, which another process has locked", TONE.quiet),
        );
        return () => undefined;
      }
      region.hold(line);
      return () => region.release(line);
    },
    typed(line) {
      // A replayed line is not the waiting line, although it may have the same text.
      if (replayed === undefined) region?.release(line);
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
      const isAll = requests.show(ask);
      if (ask.whole !== true) ring();
      return isAll;
    },
    mode: (mode) => region?.prompt(mode === "default" ? "" : mode),
    permissionClosed: requests.close,
    answers: requests.answers,
    explain: requests.explain,
    expand() {
      if (!results.expand()) notice("·", "there is no earlier shortened result to show", TONE.quiet);
    },
    answer: (text) =>
      pane.aside(() => {
        pane.begin("message");
        for (const row of text.split("\n")) for (const part of wrapStyled(row, pane.width())) pane.row(part);
      }),
    noteAtOnce: (text) => notice("·", text, TONE.quiet),
    shutdownAgreed: () => notice("○", "agreed to shut down", TONE.quiet),
    end(lastWords, epilogue) {
      requests.close();
      activity?.stop();
      pane.end(lastWords, epilogue);
    },
    leaveOut(text) {
      if (region !== undefined) leftOut = text;
    },
    note(text) {
      if (text === leftOut) leftOut = undefined;
      else pane.aside(() => notice("·", text, TONE.quiet));
    },
    error: (text) => notice("✗", text, TONE.bad),
    replay(show) {
      replayed = "";
      let rows: readonly string[];
      try {
        pane.apart(() => show(view));
      } finally {
        rows = replayed.trimEnd().split("\n");
        replayed = undefined;
      }
      const shown = rows.slice(-Math.max(1, pane.height() - REPLAY_MARGIN));
      if (shown.some((row) => row !== "")) out(`${shown.join("\n")}\n`);
      requests.showAgain();
    },
  };
  return region === undefined ? view : drawnOnce(view, region.together);
}

/** Returns the view so that each of its calls draws the live rows once, together with its output. */
function drawnOnce(view: PaneView, together: PaneRegion["together"]): PaneView {
  const once =
    <A extends unknown[], R>(act: (...args: A) => R) =>
    (...args: A): R =>
      together(() => act(...args));
  return {
    ...view,
    event: once(view.event),
    header: once(view.header),
    received: once(view.received),
    queued: once(view.queued),
    saving: once(view.saving),
    typed: once(view.typed),
    idle: once(view.idle),
    waiting: once(view.waiting),
    permission: once(view.permission),
    permissionClosed: once(view.permissionClosed),
    explain: once(view.explain),
    expand: once(view.expand),
    answer: once(view.answer),
    noteAtOnce: once(view.noteAtOnce),
    note: once(view.note),
    error: once(view.error),
    shutdownAgreed: once(view.shutdownAgreed),
    end: once(view.end),
    replay: once(view.replay),
  };
}

/** Rows below the replayed output: an empty one, the activity, the input line. */
const REPLAY_MARGIN = 3;
