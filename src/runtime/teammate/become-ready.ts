import type { WorkerStart } from "../../backend/in-process/resident-agent.ts";
import { messageOf, TeamError } from "../../errors.ts";
import { type AgentFlags, parseAgentArgv } from "../../launch/agent-flags.ts";
import { systemClock } from "../../os/clock.ts";
import { forgetEnv } from "../../os/env.ts";
import { entryOf } from "../../os/files/fs.ts";
import { livenessOf, newUuid } from "../../os/process/identity.ts";
import { recordOfEarlierStart } from "../../protocol/paths.ts";
import { defined } from "../../schema/defined.ts";
import type { StatusRecord } from "../../schema/status.ts";
import { type OwnEntry, ownEntry } from "../../team/config/own-entry.ts";
import { startedIn, type TeamRef, teamsHome } from "../../team/ref.ts";
import type { Io } from "../../terminal/io.ts";
import type { Bell } from "../../wakeup/bell.ts";
import { createStatusKeeper, type StatusKeeper } from "../../worker/status-record.ts";
import { EarlyProblems } from "../early-problems.ts";
import { ownFacts, ownPlace } from "../own-process-record.ts";
import { openWorkerBell } from "../worker-bell.ts";
import { paneBorderUpdater } from "./pane-border.ts";

/** Replaces the terminal and the process of an in-process teammate. */
export interface InProcessHost extends Pick<WorkerStart, "write" | "reportState" | "connect" | "isOver"> {
  /** Columns of the terminal that shows it. */
  width(): number;
  /** No colours. */
  readonly plain: boolean;
}

/** A teammate that is ready to work: its identity, its status record and its bell. */
export interface ReadyTeammate {
  readonly flags: AgentFlags;
  readonly ref: TeamRef;
  /** As the team's file spells it. */
  readonly name: string;
  readonly sessionId: string;
  readonly bell: Bell;
  /** Receives failures of the bell and of status writes; `runTeammate` shows them. */
  readonly problems: EarlyProblems;
  /** Called when its state or its tasks change; `runTeammate` sets `changed`. */
  readonly line: { changed(): void };
  readonly status: StatusKeeper;
  /** Whether a person has restarted it in its pane. */
  readonly isPaneRestart: boolean;
  /** Ends it from outside. */
  readonly signal: AbortSignal;
  /** Undefined if the teammate has its own process. */
  readonly host?: InProcessHost;
}

/**
 * Prepares this process as the teammate that its arguments name, without loading code that only its work needs.
 * @throws TeamError TEAM_NOT_FOUND, AGENT_NOT_FOUND, INVALID_INPUT; NESTED_TEAM in the shell of an agent, DUPLICATE_NAME if
 * it is already running; errors of its bell; a system error if its first status cannot be written: it would never count as ready
 */
export async function prepareTeammate(io: Io, host?: InProcessHost): Promise<ReadyTeammate> {
  if (host === undefined) refuseInAgentsShell(io);
  const flags = parseAgentArgv(io.argv);
  const ref = startedIn(teamsHome(io.env), flags.teamName);
  const { name, session } = await entryOfAgent(ref, flags.agentName);
  const last = await lastStatus(ref, name);
  if (host === undefined) await refuseDuplicate(ref, name, last);
  const signal = io.interruption(flags.ownScreen ? "foreign" : "own");
  const problems = new EarlyProblems();
  const bell = await openWorkerBell(ref, name, {
    problem: (error) => problems.report(messageOf(error)),
    socketFd: host === undefined ? takeBellSocket(io) : undefined,
  });
  const sessionId = flags.resume ?? session ?? sessionIdFor(io, last);
  const { awaitsProgram } = flags;
  const line: ReadyTeammate["line"] = { changed: () => undefined };
  const status = openStatus({ io, ref, name, sessionId, last, host, problems, line, awaitsProgram });
  if (status.failure !== undefined) {
    bell.close();
    throw status.failure;
  }
  const isPaneRestart = host === undefined && isSameStart(io, last);
  return defined({ flags, ref, name, sessionId, bell, problems, line, status, isPaneRestart, signal, host });
}

/** Refuses the shell of an agent, which cannot become another agent. Launch scripts unset the variable (protocol.md section 6). */
function refuseInAgentsShell({ env }: Io): void {
  if (!env.TEAMS_AGENT) return;
  throw new TeamError(
    "NESTED_TEAM",
    `This shell belongs to the agent ${env.TEAMS_AGENT}; it cannot become another agent. Nothing was started.`,
    { hint: "Ask the lead to spawn the teammate that you need." },
  );
}

/** Refuses a second process of an agent: both would read its messages, each with its own permissions (S14). */
async function refuseDuplicate(ref: TeamRef, name: string, last: StatusRecord | undefined): Promise<void> {
  if (last === undefined || last.shared || last.process.pid === process.pid) return;
  if (livenessOf(last.process) !== "alive") return;
  const { memberWord } = await import("../../team/address-words.ts");
  throw new TeamError(
    "DUPLICATE_NAME",
    `${name} is already running (process ${last.process.pid}); nothing was started.`,
    { hint: `Send it a message: teams send ${memberWord(ref, name)} "…"` },
  );
}

/** Loads the full config reader only if the quick search for the member fails. */
async function entryOfAgent(ref: TeamRef, given: string): Promise<OwnEntry> {
  const found = ownEntry(ref, given);
  if (found !== undefined) return found;
  const [{ readTeam }, { keptConfig }, { findMember }, { readMetadata }] = await Promise.all([
    import("../../team/config/config.ts"),
    import("../../team/config/kept-config.ts"),
    import("../../team/members/members.ts"),
    import("../../schema/member-metadata.ts"),
  ]);
  // Another program may have emptied the file. `runTeammate`, which reads it again, reports that.
  const config = readTeam({ ...ref, keptConfig: keptConfig(() => undefined) });
  const member = findMember(config, given);
  return { name: member.name, session: readMetadata(member, "session") };
}

/** Returns the record of an earlier process of this teammate; undefined at its first start. */
async function lastStatus(ref: TeamRef, name: string): Promise<StatusRecord | undefined> {
  const { status } = ref.paths.agent(name);
  if ([status, recordOfEarlierStart(status)].every((path) => entryOf(path) === undefined)) return undefined;
  const { readLastStatus } = await import("../../team/records/read-records.ts");
  return readLastStatus(ref, name);
}

/** Returns this process's end of the socket pair with its parent, and hides its number from child processes. */
function takeBellSocket(io: Io): number | undefined {
  const fd = Number(io.env.TEAMS_BELL_FD);
  forgetEnv(["TEAMS_BELL_FD"]);
  return Number.isInteger(fd) && fd > 2 ? fd : undefined;
}

/** Returns the session of a member that another program added: a restart by the same launch script continues its conversation. */
function sessionIdFor(io: Io, last: StatusRecord | undefined): string {
  return isSameStart(io, last) ? last.sessionId : newUuid();
}

/** Whether an earlier process of the same launch script wrote this record. */
function isSameStart({ env }: Io, last: StatusRecord | undefined): last is StatusRecord {
  return last?.instance !== undefined && last.instance === env.TEAMS_INSTANCE;
}

interface StatusInput extends Pick<ReadyTeammate, "ref" | "name" | "sessionId" | "problems" | "line"> {
  readonly io: Io;
  readonly last: StatusRecord | undefined;
  readonly host: InProcessHost | undefined;
  readonly awaitsProgram: true | undefined;
}

function openStatus(input: StatusInput): StatusKeeper {
  const { io, ref, name, sessionId, last, host, problems, line, awaitsProgram } = input;
  const facts = {
    ...(awaitsProgram === undefined ? {} : { awaitsProgram }),
    ...ownFacts(ref, name, sessionId),
    ...(io.env.TEAMS_INSTANCE === undefined ? {} : { instance: io.env.TEAMS_INSTANCE }),
    ...(host === undefined ? ownPlace(io.env) : { shared: true }),
  };
  return createStatusKeeper(ref, name, facts, last, systemClock, {
    onProblem: (text) => problems.report(text),
    ...(host === undefined
      ? { onState: both(paneBorderUpdater(io.env), () => line.changed()) }
      : { onState: host.reportState, isOver: host.isOver }),
  });
}

function both<A extends readonly unknown[]>(
  first: (...args: A) => void,
  second: () => void,
): (...args: A) => void {
  return (...args) => {
    first(...args);
    second();
  };
}
