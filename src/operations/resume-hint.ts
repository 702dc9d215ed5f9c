import { livenessOf } from "../os/process/identity.ts";
import { livenessOfAgent, readPlace } from "../team/records/read-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { operand } from "../text/shell-quote.ts";

/**
 * Returns a hint that names the ended members, says if their tmux server is gone, and gives the command that resumes them.
 * @returns undefined if none of them is known to have ended
 */
export function resumeHint(ref: TeamRef, names: readonly string[]): string | undefined {
  const ended = names.filter((name) => livenessOfAgent(ref, name) === "dead");
  if (ended.length === 0) return undefined;
  const gone = ended.filter((name) => isServerGone(ref, name));
  const isOne = ended.length === 1;
  const why = gone.length < ended.length ? "" : `, and ${isOne ? "its" : "their"} tmux server is gone`;
  const who = `${ended.join(", ")} ${isOne ? "has" : "have"} ended${why}`;
  return `${who}. To continue ${isOne ? "its conversation" : "their conversations"}: teams resume ${operand(ref.team)}`;
}

function isServerGone(ref: TeamRef, name: string): boolean {
  const { server, pidSpace, bootId } = readPlace(ref, name) ?? {};
  return server !== undefined && livenessOf({ ...server, pidSpace, bootId }) === "dead";
}
