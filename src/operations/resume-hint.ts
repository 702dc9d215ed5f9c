import { livenessOf } from "../os/process/identity.ts";
import { readMetadata } from "../schema/member-metadata.ts";
import { memberWord } from "../team/address-words.ts";
import { readTeam } from "../team/config/config.ts";
import { lookUpMember } from "../team/members/members.ts";
import { livenessOfAgent, readPlace } from "../team/records/read-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { operand, optionWords } from "../text/shell-quote.ts";

/**
 * Returns a hint that names the ended members, says if their tmux server is gone, and gives the command that resumes them.
 * @returns undefined if none of them is known to have ended
 */
export function resumeHint(ref: TeamRef, names: readonly string[]): string | undefined {
  const ended = names.filter((name) => livenessOfAgent(ref, name) === "dead");
  if (ended.length === 0) return undefined;
  const lost = ended.filter((name) => hasLostProgram(ref, name));
  const [first] = lost;
  if (first !== undefined) {
    const rest = resumeHint(
      ref,
      names.filter((name) => !lost.includes(name)),
    );
    const lostHint = `The program of ${lost.join(", ")} has ended, and teams cannot start it again. To remove a member: teams kill ${memberWord(ref, first)}`;
    return rest === undefined ? lostHint : `${rest}\n${lostHint}`;
  }
  const gone = ended.filter((name) => isServerGone(ref, name));
  const isOne = ended.length === 1;
  const why = gone.length < ended.length ? "" : `, and ${isOne ? "its" : "their"} tmux server is gone`;
  const who = `${ended.join(", ")} ${isOne ? "has" : "have"} ended${why}`;
  return `${who}. To continue ${isOne ? "its conversation" : "their conversations"}: teams resume ${operand(ref.team)}`;
}

/**
 * Returns a hint for a team whose lead has ended: how its model leads again, and how a person does.
 * @param living number of its teammates that run
 * @returns undefined for a team of another program
 */
export function leadHint(ref: TeamRef, living: number): string | undefined {
  if (readTeam(ref).schemaVersion === undefined) return undefined;
  const { team } = ref;
  const others =
    living === 0 ? "" : `; ${living === 1 ? "its teammate continues" : "its teammates continue"}`;
  const byPerson = `teams resume ${operand(team)}`;
  return `The lead has ended${others}. To let its model lead again: teams run --resume ${optionWords("--team", team)}. To lead the team yourself: ${byPerson}`;
}

/** Whether a member was a program that a person started, and that has ended. */
function hasLostProgram(ref: TeamRef, name: string): boolean {
  const member = lookUpMember(readTeam(ref), name);
  const adopted = member && readMetadata(member, "adopted");
  return adopted !== undefined && livenessOf(adopted.process) === "dead";
}

function isServerGone(ref: TeamRef, name: string): boolean {
  const { server, pidSpace, bootId } = readPlace(ref, name) ?? {};
  return server !== undefined && livenessOf({ ...server, pidSpace, bootId }) === "dead";
}
