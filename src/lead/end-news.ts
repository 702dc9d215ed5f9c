import { withoutMessages } from "../team/last-lines.ts";
import type { AgentExit } from "../team/liveness.ts";

/** Signal or exit code in brackets, to stand behind a verb; empty where neither is known. */
export function reasonOf(exit: AgentExit | null): string {
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
