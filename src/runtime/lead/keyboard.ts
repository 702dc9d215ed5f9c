import { messageOf } from "../../errors.ts";
import { onDoubleInterrupt } from "../../terminal/double-interrupt.ts";
import { readTypedLines, type TypingHandlers } from "../../terminal/line-reader.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Lead } from "./lead.ts";
import { leadTyped, switchDelegate } from "./slash-commands.ts";
import { showTeammates } from "./team-screen.ts";

/**
 * What is typed in a lead's terminal: for the lead, or for the teammate that is looked at in it.
 * @param signal ends the lead: its own words are seen then
 * @returns ends the reading, and gives the terminal back
 */
export function readKeys(lead: Lead, worker: Worker, signal: AbortSignal): () => void {
  const { call, screen, typing, view } = lead;
  const { io } = call;
  const problem = (error: unknown): void => view.error(messageOf(error));
  const endings = onDoubleInterrupt(() => view.atOnce("Ctrl-C once more ends the team"), signal);
  const ofLead: TypingHandlers & Required<Pick<TypingHandlers, "mayInterrupt">> = {
    line: (line) => {
      endings.forget();
      return leadTyped(lead, worker, line);
    },
    escape: () => void worker.interrupt(),
    shiftTab: () => void switchDelegate(lead).catch(problem),
    end: () => worker.finish(),
    mayInterrupt: endings.press,
    problem,
  };
  if (typing !== undefined) return readTypedLines(typing.echo, ofLead, typing.editor);
  if (screen === undefined) return readTypedLines(io.terminal.stdout ? io.out : io.err, ofLead);
  const stopShowing = showTeammates(screen, signal);
  const stopReading = readTypedLines(
    (text) => screen.echo(text),
    {
      ...ofLead,
      line: async (line) => {
        if ((await screen.line(line)) === "lead") await ofLead.line(line);
      },
      blank: () => void screen.line("").catch(problem),
      key: (key) => screen.key(key),
      escape: () => {
        if (screen.escape()) ofLead.escape();
      },
      mayInterrupt: (dropped) => {
        screen.leave();
        return ofLead.mayInterrupt(dropped);
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
