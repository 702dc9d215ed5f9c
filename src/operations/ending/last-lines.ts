import type { AgentExit } from "../../team/members/judge-liveness.ts";

/** What a message begins with in a pane: this and who sent it, its text below in rows that are set in. */
export const MESSAGE_SIGN = "◂";

const INDENTED = /^(?: {2}|\s*$)/;

/**
 * What a pane showed last, for its team's lead: without blank lines, and without the text of messages, since of what teammates
 * write to each other the lead reads summaries only (protocol.md section 5). Rows that are set in at the beginning may be the rest
 * of a message and go too.
 */
export function withoutMessages(lines: readonly string[]): readonly string[] {
  let isInMessage = true;
  return lines.filter((line) => {
    const begins = line.startsWith(MESSAGE_SIGN);
    isInMessage = begins || (isInMessage && INDENTED.test(line));
    return begins || (!isInMessage && line.trim() !== "");
  });
}

/** Signal or exit code in brackets, to stand behind a verb; empty where neither is known. */
export function exitReason(exit: AgentExit | null): string {
  const reason = exit?.signal ?? (exit?.code == null ? undefined : `exit code ${exit.code}`);
  return reason === undefined ? "" : ` (${reason})`;
}

/**
 * The last that its pane showed, in lines below the news. Each is marked as quoted: what an agent, or a program of its, wrote is
 * not said by whoever tells the news.
 */
export function lastLinesOf(exit: AgentExit | null): string {
  const lines = withoutMessages(exit?.lastLines ?? []);
  return lines.length === 0 ? "" : `\nIts last lines:\n${lines.map((line) => `> ${line}`).join("\n")}`;
}
