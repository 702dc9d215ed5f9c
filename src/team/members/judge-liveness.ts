import { type Liveness, livenessOf, type RecordedProcess } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { AgentState, ExitRecord, PlaceRecord, StatusRecord } from "../../schema/status.ts";

/** How an agent ended. A signal stands for the code that a shell makes of it. */
export interface AgentExit {
  readonly code: number | null;
  /** A name, `SIGKILL`. */
  readonly signal: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly lastLines: readonly string[];
}

interface Verdict {
  readonly state: AgentState;
  /** null: not to be judged from here (a foreign peer, another machine's process), or about to be put somewhere. */
  readonly alive: boolean | null;
  /** The agent's own process. */
  readonly pid?: number;
  readonly exit: AgentExit | null;
}

/** What is known of an agent; each file has its own writer. */
export interface AgentRecords {
  readonly status: StatusRecord | undefined;
  readonly place: PlaceRecord | undefined;
  readonly exit: ExitRecord | undefined;
  /** The starts whose places still exist, where the backends were asked. */
  readonly presentInstances?: ReadonlySet<string> | undefined;
}

type JudgeProcess = (record: RecordedProcess) => Liveness;

/**
 * Judges an agent by its records, its process and its place. Only who has records of ours is judged; of others the word
 * is `unknown` (protocol.md, Whose is it).
 */
export function judgeLiveness(
  member: TeamMember,
  records: AgentRecords,
  processLiveness: JudgeProcess = livenessOf,
): Verdict {
  const { place } = records;
  const status = ofThisStart(records.status, place);
  const instance = place?.instance ?? status?.instance;
  const exit =
    records.exit !== undefined && records.exit.instance === instance ? toAgentExit(records.exit) : null;
  const known = status === undefined ? {} : { pid: status.process.pid };
  if (status === undefined && place === undefined) return unplaced(member, processLiveness);
  if (exit !== null) return { state: endState(exit, status), alive: false, ...known, exit };

  const liveness =
    status === undefined ? startingLiveness(records, processLiveness) : processLiveness(status.process);
  if (liveness === "unknown") return { state: "unknown", alive: null, ...known, exit: null };
  if (liveness === "dead") return { state: endState(null, status), alive: false, ...known, exit: null };
  const leftAlone = member.backendType === "in-process" && status?.state === "exited";
  return { state: status?.state ?? "starting", alive: !leftAlone, ...known, exit: null };
}

/** One that was put nowhere yet is as its start is: that ends with the process that has begun it. */
function unplaced(member: TeamMember, processLiveness: JudgeProcess): Verdict {
  const by = readMetadata(member, "startClaim")?.by;
  const liveness = by === undefined ? "unknown" : processLiveness(by);
  if (liveness === "dead") return { state: "crashed", alive: false, exit: null };
  return { state: liveness === "alive" ? "starting" : "unknown", alive: null, exit: null };
}

/** What an earlier start said does not count for the next one. */
function ofThisStart(
  status: StatusRecord | undefined,
  place: PlaceRecord | undefined,
): StatusRecord | undefined {
  const other = place !== undefined && status?.instance !== undefined && status.instance !== place.instance;
  return other ? undefined : status;
}

/** One that has said nothing yet lives as long as its place does. */
function startingLiveness(
  { place, presentInstances }: AgentRecords,
  processLiveness: JudgeProcess,
): Liveness {
  if (place === undefined) return "unknown";
  const script = launchScriptOf(place);
  const ofScript = script === undefined ? "alive" : processLiveness(script);
  // The backends see the places of this pid space alone.
  if (ofScript === "unknown" || presentInstances === undefined) return ofScript;
  return presentInstances.has(place.instance) ? "alive" : "dead";
}

/** The process that holds a place and all that runs in it; undefined where it was not recorded. */
export function launchScriptOf(place: PlaceRecord | undefined): RecordedProcess | undefined {
  if (place?.panePid === undefined) return undefined;
  const { panePid: pid, paneProcStart: procStart, pidSpace, bootId } = place;
  return { pid, procStart, pidSpace, bootId };
}

/** Signals by which somebody ends a program that is sound: its terminal went away, a person's Ctrl-C, a plain `kill`. */
const DELIBERATE_SIGNALS: ReadonlySet<string> = new Set(["SIGHUP", "SIGINT", "SIGTERM"]);

/** Who ended by itself, or because somebody wished it, is `exited`; any other end is a crash. */
function endState(exit: AgentExit | null, status: StatusRecord | undefined): AgentState {
  const leaving = status?.state === "exited" || status?.state === "stopping";
  if (exit === null) return leaving ? "exited" : "crashed";
  return leaving || isDeliberate(exit) ? "exited" : "crashed";
}

/** Whether a program came to its end, or somebody ended it that was sound. */
export function isDeliberate({ code, signal }: AgentExit): boolean {
  return code === 0 || DELIBERATE_SIGNALS.has(signal ?? "");
}

export function toAgentExit(record: ExitRecord): AgentExit {
  const signal = record.signal ?? null;
  return {
    code: signal === null ? record.code : null,
    signal,
    at: record.at,
    lastLines: record.lastLines,
  };
}
