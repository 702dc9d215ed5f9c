import type { AgentExit } from "../team/liveness.ts";

/** Signal or exit code in brackets, to stand behind a verb; empty where neither is known. */
export function reasonOf(exit: AgentExit | null): string {
  const reason = exit?.signal ?? (exit?.code == null ? undefined : `exit code ${exit.code}`);
  return reason === undefined ? "" : ` (${reason})`;
}

/** The last that it said, in lines below the news. */
export function lastLinesOf(exit: AgentExit | null): string {
  const lines = exit?.lastLines.filter((line) => line.trim() !== "") ?? [];
  return lines.length === 0 ? "" : `\nIts last lines:\n${lines.join("\n")}`;
}
