import { type Liveness, livenessOf, type RecordedProcess } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type {
  AgentState,
  ExitRecord,
  HookEvent,
  HookRecord,
  PlaceRecord,
  StateSource,
  StatusRecord,
} from "../../schema/status.ts";
import type { ForeignVerdict } from "./judge-foreign.ts";

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
  /** For a foreign member, and for a CLI that reads its inbox itself: the source of its state; null if it is unknown. */
  readonly stateFrom?: StateSource | null;
  /** null if it cannot be judged here (another program's member, a process of another machine) or has no place yet. */
  readonly alive: boolean | null;
  /** The agent's own process. */
  readonly pid?: number;
  /** The activity of a foreign member, or the failure of its last turn. */
  readonly activity?: string;
  readonly exit: AgentExit | null;
}

/** The records of an agent; each file has its own writer. */
export interface AgentRecords {
  readonly status: StatusRecord | undefined;
  readonly place: PlaceRecord | undefined;
  readonly exit: ExitRecord | undefined;
  /** The instances whose panes or processes still exist; undefined if the backends were not asked. */
  readonly presentInstances?: ReadonlySet<string> | undefined;
  /** The last report of the hooks of its program; undefined if the caller has not read it. */
  readonly hook?: HookRecord | undefined;
  /** The verdict on a foreign member, which has no records; undefined if the caller has not gathered the facts about it. */
  readonly foreign?: ForeignVerdict | undefined;
}

type JudgeProcess = (record: RecordedProcess) => Liveness;

/**
 * Judges an agent by its records, its process and its place; a member without our records by its verdict (protocol.md,
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
  if (status === undefined && place === undefined) return unplaced(member, records.foreign, processLiveness);
  if (exit !== null)
    return { state: endState(exit, status), alive: false, ...known, exit: ofProgram(member, exit) };

  const liveness =
    status === undefined ? startingLiveness(records, processLiveness) : processLiveness(status.process);
  if (liveness === "unknown") return { state: "unknown", alive: null, ...known, exit: null };
  if (liveness === "dead") return { state: endState(null, status), alive: false, ...known, exit: null };
  const hasSource = status?.ownInbox === true || status?.stateFrom !== undefined;
  const source = hasSource ? { stateFrom: status?.stateFrom ?? null } : {};
  const hook = status && newerHook(status, records.hook);
  if (hook !== undefined) {
    const state = HOOK_STATES[hook.event];
    return { state, stateFrom: "hook", activity: hook.detail ?? "", alive: true, ...known, exit: null };
  }
  const hasEndedInHost = member.backendType === "in-process" && status?.state === "exited";
  return { state: status?.state ?? "starting", alive: !hasEndedInHost, ...known, ...source, exit: null };
}

/** The states that the hooks of a program report. */
export const HOOK_STATES: Readonly<Record<HookEvent, "running" | "needs-input" | "idle">> = {
  started: "idle",
  prompted: "running",
  tool: "running",
  asking: "needs-input",
  resting: "idle",
  interrupted: "idle",
};

/** Whether a program is only typed to, so that its bridge does not see its turns. */
export function isTurnUnseen({ state, stateFrom }: Pick<StatusRecord, "state" | "stateFrom">): boolean {
  return state === "unknown" || stateFrom === "signal";
}

/** Returns the report of its hooks if it is newer than that of the bridge, for a program that is only typed to. */
function newerHook(status: StatusRecord, hook: HookRecord | undefined): HookRecord | undefined {
  if (hook === undefined || !isTurnUnseen(status) || hook.at <= status.since) return undefined;
  return hook.instance === undefined || hook.instance === status.instance ? hook : undefined;
}

/** Returns how a member's program ended. An adopted program has the status of its bridge, which says nothing about the program. */
function ofProgram(member: TeamMember, exit: AgentExit): AgentExit {
  if (exit.code !== 0 || readMetadata(member, "adopted") === undefined) return exit;
  return { ...exit, code: null, lastLines: ["its program or its pane has ended"] };
}

/** Judges a member without a place: by its start, which fails if the process that started it dies; or as a foreign member. */
function unplaced(
  member: TeamMember,
  foreign: ForeignVerdict | undefined,
  processLiveness: JudgeProcess,
): Verdict {
  const by = readMetadata(member, "startClaim")?.by;
  if (by === undefined) return foreign === undefined ? UNKNOWN : ofForeign(foreign);
  const liveness = processLiveness(by);
  if (liveness === "dead") return { state: "crashed", alive: false, exit: null };
  return liveness === "alive" ? { ...UNKNOWN, state: "starting" } : UNKNOWN;
}

const UNKNOWN: Verdict = { state: "unknown", alive: null, exit: null };

function ofForeign({ state, stateFrom, alive, pid, activity }: ForeignVerdict): Verdict {
  const known = alive && pid !== undefined ? { pid } : {};
  return { state, stateFrom, alive, ...known, ...(activity === undefined ? {} : { activity }), exit: null };
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

/** True if the launch script of a place certainly runs on this machine. */
export function isLaunchScriptAlive(place: PlaceRecord): boolean {
  const script = launchScriptOf(place);
  return script !== undefined && livenessOf(script) === "alive";
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

/** Converts an exit record. Drops the code of a record with a signal: a shell has derived it from the signal. */
export function toAgentExit(record: ExitRecord): AgentExit {
  const signal = record.signal ?? null;
  return {
    code: signal === null ? record.code : null,
    signal,
    at: record.at,
    lastLines: record.lastLines,
  };
}
