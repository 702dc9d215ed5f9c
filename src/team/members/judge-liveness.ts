import { type Liveness, livenessOf, type RecordedProcess } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { AgentState, ExitRecord, PlaceRecord, StatusRecord } from "../../schema/status.ts";

/** How an agent ended: by an exit code, or by a signal. */
export interface AgentExit {
  readonly code: number | null;
  /** A name such as `SIGKILL`. */
  readonly signal: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly lastLines: readonly string[];
}

interface Verdict {
  readonly state: AgentState;
  /** null if it cannot be judged here (another program's member, a process of another machine) or has no place yet. */
  readonly alive: boolean | null;
  /** The agent's own process. */
  readonly pid?: number;
  readonly exit: AgentExit | null;
}

/** The records of an agent; each file has its own writer. */
export interface AgentRecords {
  readonly status: StatusRecord | undefined;
  readonly place: PlaceRecord | undefined;
  readonly exit: ExitRecord | undefined;
  /** The instances whose panes or processes still exist; undefined if the backends were not asked. */
  readonly presentInstances?: ReadonlySet<string> | undefined;
}

type JudgeProcess = (record: RecordedProcess) => Liveness;

/**
 * Judges an agent by its records, its process and its place. A member without our records is `unknown` (protocol.md,
 * Whose is it).
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

/** Judges a member without a place by its start: it fails if the process that started it dies. */
function unplaced(member: TeamMember, processLiveness: JudgeProcess): Verdict {
  const by = readMetadata(member, "startClaim")?.by;
  const liveness = by === undefined ? "unknown" : processLiveness(by);
  if (liveness === "dead") return { state: "crashed", alive: false, exit: null };
  return { state: liveness === "alive" ? "starting" : "unknown", alive: null, exit: null };
}

/** Ignores the status of an earlier instance. */
function ofThisStart(
  status: StatusRecord | undefined,
  place: PlaceRecord | undefined,
): StatusRecord | undefined {
  const isOther = place !== undefined && status?.instance !== undefined && status.instance !== place.instance;
  return isOther ? undefined : status;
}

/** An agent without a status is alive as long as its place exists. */
function startingLiveness(
  { place, presentInstances }: AgentRecords,
  processLiveness: JudgeProcess,
): Liveness {
  if (place === undefined) return "unknown";
  const script = launchScriptOf(place) ?? place.within?.process;
  const ofScript = script === undefined ? "alive" : processLiveness(script);
  // The backends see only places of this pid space.
  if (ofScript === "unknown" || presentInstances === undefined) return ofScript;
  return presentInstances.has(place.instance) ? "alive" : "dead";
}

/** Returns the launch script, the process that all others of a place descend from; undefined if it was not recorded. */
export function launchScriptOf(place: PlaceRecord | undefined): RecordedProcess | undefined {
  if (place?.panePid === undefined) return undefined;
  const { panePid: pid, paneProcStart: procStart, pidSpace, bootId } = place;
  return { pid, procStart, pidSpace, bootId };
}

/** Signals that end a healthy program: its terminal was closed, Ctrl-C, a plain `kill`. */
const DELIBERATE_SIGNALS: ReadonlySet<string> = new Set(["SIGHUP", "SIGINT", "SIGTERM"]);

/** Returns `exited` for a normal or deliberate end; any other end is a crash. */
function endState(exit: AgentExit | null, status: StatusRecord | undefined): AgentState {
  const leaving = status?.state === "exited" || status?.state === "stopping";
  if (exit === null) return leaving ? "exited" : "crashed";
  return leaving || isDeliberate(exit) ? "exited" : "crashed";
}

/** True if a program exited normally, or a user or another program ended it. */
export function isDeliberate({ code, signal }: AgentExit): boolean {
  return code === 0 || DELIBERATE_SIGNALS.has(signal ?? "");
}

/** A record with a signal also holds the code that a shell derives from it; drops that code. */
export function toAgentExit(record: ExitRecord): AgentExit {
  const signal = record.signal ?? null;
  return {
    code: signal === null ? record.code : null,
    signal,
    at: record.at,
    lastLines: record.lastLines,
  };
}
