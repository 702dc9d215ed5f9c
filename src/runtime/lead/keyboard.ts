import { messageOf } from "../../errors.ts";
import { onDoubleInterrupt } from "../../terminal/double-interrupt.ts";
import { readTypedLines, type TypingHandlers } from "../../terminal/line-reader.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Lead } from "./lead.ts";
import { endByUser, handleLeadLine, toggleDelegate } from "./slash-commands.ts";
import { attachScreen } from "./team-screen.ts";

/**
 * Reads the lead's terminal: lines and keys for the lead, or for the teammate that the terminal shows.
 * @param signal ends the lead; the terminal then shows the lead's own output again
 * @returns stops reading and restores the terminal
 */
export function readKeys(lead: Lead, worker: Worker, signal: AbortSignal): () => void {
  const { call, screen, typing, view } = lead;
  const { io } = call;
  const problem = (error: unknown): void => view.error(messageOf(error));
  const interrupts = onDoubleInterrupt(() => view.noteAtOnce("Ctrl-C once more ends the run"), signal);
  const leadHandlers: TypingHandlers & Required<Pick<TypingHandlers, "mayInterrupt">> = {
    line: (line) => {
      interrupts.forget();
      return handleLeadLine(lead, worker, line);
    },
    escape: () => void worker.interrupt(),
    shiftTab: () => void toggleDelegate(lead).catch(problem),
    end: () => endByUser(lead, worker, "keep"),
    mayInterrupt: interrupts.press,
    problem,
  };
  if (typing !== undefined) return readTypedLines(typing.echo, leadHandlers, typing.editor);
  if (screen === undefined) return readTypedLines(io.terminal.stdout ? io.out : io.err, leadHandlers);
  const stopShowing = attachScreen(screen, signal);
  const stopReading = readTypedLines(
    (text) => screen.echo(text),
    {
      ...leadHandlers,
      line: async (line) => {
        if ((await screen.line(line)) === "lead") await leadHandlers.line(line);
      },
      blank: () => void screen.line("").catch(problem),
      key: (key) => screen.key(key),
      escape: () => {
        if (screen.escape()) leadHandlers.escape();
      },
      mayInterrupt: (dropped) => {
        screen.leave();
        return leadHandlers.mayInterrupt(dropped);
      },
      signal: () => screen.leave(),
    },
    screen.editor,
  );
  return () => {
    stopShowing();
    stopReading();
  };
}
