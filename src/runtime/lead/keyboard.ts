import { LEAD_NAME } from "../../schema/names.ts";
import { onDoubleInterrupt } from "../../terminal/double-interrupt.ts";
import { readTypedLines, type TypingHandlers } from "../../terminal/input/line-reader.ts";
import { readPlainLines } from "../../terminal/input/plain-lines.ts";
import { liveRegion } from "../../terminal/live/live-region.ts";
import { wantsColors } from "../../terminal/output.ts";
import { canDraw } from "../../terminal/terminal-abilities.ts";
import type { Worker } from "../../worker/worker.ts";
import { paneKeys } from "../pane/pane-keys.ts";
import { attachScreen } from "./attach-screen.ts";
import type { Lead } from "./lead.ts";
import { endByUser, leadCommands } from "./lead-commands.ts";

interface KeyboardOptions {
  /** Ends the lead; the terminal then shows the lead's own output again. */
  readonly signal: AbortSignal;
  /** Applies the mode in the team's file. */
  followMode(): void;
}

/**
 * Reads the lead's terminal: lines and keys for the lead, or for the teammate that the terminal shows.
 * @returns a function that stops reading and restores the terminal
 */
export function readKeys(lead: Lead, worker: Worker, { signal, followMode }: KeyboardOptions): () => void {
  const { call, screen, region, view } = lead;
  const { io } = call;
  const keys = paneKeys({
    ref: lead.ctx.ref,
    name: LEAD_NAME,
    call,
    view,
    worker,
    mode: lead.mode,
    plain: !io.terminal.stdout || !wantsColors(io.env, true),
    width: () => io.columns ?? 80,
    own: leadCommands(lead, worker),
    followMode,
    clear: () => (region ?? screen)?.clear(),
  });
  const interrupts = onDoubleInterrupt(() => view.noteAtOnce("Ctrl-C once more ends the run"), signal);
  const leadHandlers: TypingHandlers & Required<Pick<TypingHandlers, "mayInterrupt">> = {
    ...keys,
    line: (line, begun, earliest) => {
      interrupts.forget();
      return keys.line(line, begun, earliest);
    },
    end: () => endByUser(lead, worker, "keep"),
    mayInterrupt: interrupts.press,
  };
  if (!canDraw(io.env)) return readPlainLines(leadHandlers);
  if (region !== undefined) return readTypedLines(region, leadHandlers);
  if (screen === undefined) {
    const out = io.terminal.stdout ? io.out : io.err;
    const size = { width: () => io.columns ?? 80, height: () => io.rows ?? 24 };
    return readTypedLines(liveRegion({ ...size, out, plain: true }), leadHandlers);
  }
  const stopShowing = attachScreen(screen, signal);
  const stopReading = readTypedLines(screen, {
    ...leadHandlers,
    answers: (char) => (screen.showsLead ? keys : screen.teammate)?.answers(char),
    answer: (char) => (screen.showsLead ? keys : screen.teammate)?.answer(char),
    shiftTab: () => (screen.showsLead ? keys.shiftTab() : screen.teammate?.nextMode()),
    complete: (...of) => (screen.showsLead ? keys : screen.teammate)?.complete(...of) ?? [],
    pane: (key) => {
      if (screen.showsLead) keys.pane(key);
      else if (key === "expand") screen.teammate?.expand();
      else screen.clear();
    },
    line: async (line, begun) => {
      if ((await screen.line(line, begun)) === "lead") await leadHandlers.line(line, begun);
    },
    blank: () => void screen.line("", 0).catch(keys.problem),
    key: (key) => screen.key(key),
    escape: () => {
      if (screen.escape()) leadHandlers.escape();
    },
    mayInterrupt: (dropped) => {
      if (!dropped) screen.leave();
      // The lead's own line may be there again: the next Ctrl-C discards it.
      return leadHandlers.mayInterrupt(dropped || screen.editor.edited.text !== "");
    },
    signal: () => screen.leave(),
  });
  return () => {
    stopShowing();
    stopReading();
  };
}
