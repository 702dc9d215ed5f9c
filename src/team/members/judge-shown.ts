import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { readTeam } from "../config/config.ts";
import { readCrash, readExit, readPlace, readStatus } from "../records/read-records.ts";
import { judgeProcess, type TeamRef } from "../ref.ts";
import { type AgentRecords, judgeLiveness, launchScriptOf } from "./judge-liveness.ts";
import { hasStartClaim } from "./start-claims.ts";

type Verdict = ReturnType<typeof judgeLiveness>;

/**
 * Judges an agent as {@link judgeLiveness}, for a user: an agent whose next start is under way is starting, although the records of
 * the earlier start say that it has ended.
 */
export function judgeShown(ref: TeamRef, member: TeamMember, records: AgentRecords): Verdict {
  const verdict = judge(ref, member, records);
  // Without an exit record, only missing processes show an end: check that the records are still current.
  if (verdict.alive !== false || verdict.exit !== null) return verdict;
  const newer = readAgain(ref, member, records);
  return newer === undefined ? verdict : judge(ref, newer.member, newer.records);
}

function judge(ref: TeamRef, member: TeamMember, records: AgentRecords): Verdict {
  const verdict = judgeLiveness(member, records, (record) => judgeProcess(ref, record));
  if (verdict.alive !== false) return verdict;
  const isStarting = isStartClaimed(member, records) || isRestartingInPane(ref, member, records);
  return isStarting ? { state: "starting", alive: null, exit: null } : verdict;
}

/**
 * Reads the records again after one of their processes was found dead. It may have been alive at the first read: since then, the command
 * that started the member has finished its start, or the agent has reported its end.
 * @returns undefined if the member has left the team
 */
function readAgain(
  ref: TeamRef,
  { name }: TeamMember,
  before: AgentRecords,
): { readonly member: TeamMember; readonly records: AgentRecords } | undefined {
  const member = readTeam(ref).members.find((one) => one.name === name);
  if (member === undefined) return undefined;
  const place = readPlace(ref, name);
  const records = { ...before, status: readStatus(ref, name), place, exit: readExit(ref, name) };
  // The backends were not asked about a newer place.
  const isKnown = place?.instance === before.place?.instance;
  return { member, records: isKnown ? records : { ...records, presentInstances: undefined } };
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
