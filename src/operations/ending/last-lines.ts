import type { AgentExit } from "../../team/members/judge-liveness.ts";

/** The sign before the sender of a message in a pane; the message's text follows in indented rows. */
export const MESSAGE_SIGN = "◂";

const INDENTED = /^(?: {2}|\s*$)/;
/** A blank line, or the input line of a pane in which nothing was typed: `›`, `plan ›`. */
const EMPTY = /^\s*(?:(?:[\w-]+ )?[›>])?\s*$/;

/**
 * Removes empty lines and the text of messages from the last lines of a pane, which go to the lead: the lead reads only summaries
 * of messages between teammates (protocol.md section 5). Indented rows at the beginning may belong to a message and are removed, too.
 */
export function withoutMessages(lines: readonly string[]): readonly string[] {
  let isInMessage = true;
  return lines.filter((line) => {
    const begins = line.startsWith(MESSAGE_SIGN);
    isInMessage = begins || (isInMessage && INDENTED.test(line));
    return begins || (!isInMessage && !EMPTY.test(line));
  });
}

/** Returns the signal or exit code in brackets, to follow a verb; empty if both are unknown. */
export function exitReason(exit: AgentExit | null): string {
  const reason = exit?.signal ?? (exit?.code == null ? undefined : `exit code ${exit.code}`);
  return reason === undefined ? "" : ` (${reason})`;
}

/**
 * Returns the pane's last lines, to append to a notification. Each is marked as a quotation, so that the reader does not take the
 * output of an agent or its programs for words of the notification.
 */
export function lastLinesOf(exit: AgentExit | null): string {
  const lines = withoutMessages(exit?.lastLines ?? []);
  return lines.length === 0 ? "" : `\nIts last lines:\n${lines.map((line) => `> ${line}`).join("\n")}`;
}
