import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { readCrash } from "../records/read-records.ts";
import { judgeProcess, type TeamRef } from "../ref.ts";
import { type AgentRecords, judgeLiveness, launchScriptOf } from "./judge-liveness.ts";
import { hasStartClaim } from "./start-claims.ts";

/**
 * Judges an agent as {@link judgeLiveness}, for a user: an agent whose next start is under way is starting, although the records of
 * the earlier start say that it has ended.
 */
export function judgeShown(
  ref: TeamRef,
  member: TeamMember,
  records: AgentRecords,
): ReturnType<typeof judgeLiveness> {
  const verdict = judgeLiveness(member, records, (record) => judgeProcess(ref, record));
  if (verdict.alive !== false) return verdict;
  const isStarting = isStartClaimed(member, records) || isRestartingInPane(ref, member, records);
  return isStarting ? { state: "starting", alive: null, exit: null } : verdict;
}

/** Whether a process starts the member and has no record of the new start yet. */
function isStartClaimed(member: TeamMember, { status, place }: AgentRecords): boolean {
  if (!hasStartClaim(member)) return false;
  const { instance } = readMetadata(member, "startClaim") ?? {};
  return instance !== place?.instance && instance !== status?.instance;
}

/**
 * Whether a user has restarted the program in its pane, and it has not reported yet: its launch script runs, and has renamed the exit
 * record of the process that wrote the status.
 */
function isRestartingInPane(
  ref: TeamRef,
  { name }: TeamMember,
  { status, place, exit }: AgentRecords,
): boolean {
  const script = launchScriptOf(place);
  if (script === undefined || status?.instance === undefined || exit?.instance === status.instance)
    return false;
  const crash = readCrash(ref, name);
  if (crash?.instance !== status.instance || crash.at < status.startedAt) return false;
  return judgeProcess(ref, script) === "alive";
}
