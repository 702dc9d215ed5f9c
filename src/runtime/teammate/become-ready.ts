import type { WorkerStart } from "../../backend/in-process/resident-agent.ts";
import { TeamError } from "../../errors.ts";
import { type AgentFlags, parseAgentArgv } from "../../launch/agent-flags.ts";
import { systemClock } from "../../os/clock.ts";
import { forgetEnv } from "../../os/env.ts";
import { entryOf } from "../../os/files/fs.ts";
import { livenessOf, newUuid } from "../../os/process/identity.ts";
import { defined } from "../../schema/defined.ts";
import { teamDir } from "../../schema/names.ts";
import type { StatusRecord } from "../../schema/status.ts";
import { spelledName } from "../../team/config/member-spelling.ts";
import { type TeamRef, teamRef, teamsHome } from "../../team/ref.ts";
import type { Io } from "../../terminal/io.ts";
import type { Bell } from "../../wakeup/bell.ts";
import { createStatusKeeper, type StatusKeeper } from "../../worker/status-record.ts";
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
  /** Receives the bell's errors; `runTeammate` sets `problem`. */
  readonly bellProblems: { problem(error: unknown): void };
  readonly status: StatusKeeper;
  /** Ends it from outside. */
  readonly signal: AbortSignal;
  /** Undefined if the teammate has its own process. */
  readonly host?: InProcessHost;
}

/**
 * Prepares this process as the teammate that its arguments name, without loading what only its work needs.
 * @throws TeamError TEAM_NOT_FOUND, AGENT_NOT_FOUND, INVALID_INPUT; NESTED_TEAM in the shell of an agent, DUPLICATE_NAME if
 * it runs already; errors of its bell
 */
export async function prepareTeammate(io: Io, host?: InProcessHost): Promise<ReadyTeammate> {
  if (host === undefined) refuseInAgentsShell(io);
  const flags = parseAgentArgv(io.argv);
  const ref = teamRef(teamsHome(io.env), teamDir(flags.teamName));
  const name = await spelledNameOf(ref, flags.agentName);
  const last = await lastStatus(ref, name);
  if (host === undefined) refuseDuplicate(name, last);
  const signal = io.interruption();
  // The bell reports only while it is waited for, which begins after the view is set here.
  const bellProblems: ReadyTeammate["bellProblems"] = { problem: () => undefined };
  const bell = await openWorkerBell(ref, name, {
    problem: (error) => bellProblems.problem(error),
    socketFd: host === undefined ? takeBellSocket(io) : undefined,
  });
  const sessionId = sessionIdFor(io, last, flags);
  const status = openStatus({ io, ref, name, sessionId, last, host });
  return defined({ flags, ref, name, sessionId, bell, bellProblems, status, signal, host });
}

/** A shell of an agent cannot become another agent; launch scripts unset the variable (protocol.md section 6). */
function refuseInAgentsShell({ env }: Io): void {
  if (!env.TEAMS_AGENT) return;
  throw new TeamError(
    "NESTED_TEAM",
    `This shell belongs to the agent ${env.TEAMS_AGENT}; it cannot be another one. Nothing was started.`,
    { hint: "Ask the lead to spawn the teammate that you need." },
  );
}

/** Two processes of one agent would both read its messages, each with its own permissions (S14). */
function refuseDuplicate(name: string, last: StatusRecord | undefined): void {
  if (last === undefined || last.shared || last.process.pid === process.pid) return;
  if (livenessOf(last.process) !== "alive") return;
  throw new TeamError(
    "DUPLICATE_NAME",
    `${name} is running already, as process ${last.process.pid}. Nothing was started.`,
    { hint: `Send it a message: teams send ${name} "…"` },
  );
}

/** Loads the full config reader only if the quick search for the name fails. */
async function spelledNameOf(ref: TeamRef, given: string): Promise<string> {
  const spelled = spelledName(ref, given);
  if (spelled !== undefined) return spelled;
  const [{ readTeam }, { findMember }] = await Promise.all([
    import("../../team/config/config.ts"),
    import("../../team/members/members.ts"),
  ]);
  return findMember(readTeam(ref), given).name;
}

/** Returns the record of an earlier process of this teammate; undefined at its first start. */
async function lastStatus(ref: TeamRef, name: string): Promise<StatusRecord | undefined> {
  if (entryOf(ref.paths.agent(name).status) === undefined) return undefined;
  const { readStatus } = await import("../../team/records/read-records.ts");
  return readStatus(ref, name);
}

/** Returns this process's end of the socket pair with its parent, and hides its number from child processes. */
function takeBellSocket(io: Io): number | undefined {
  const fd = Number(io.env.TEAMS_BELL_FD);
  forgetEnv(["TEAMS_BELL_FD"]);
  return Number.isInteger(fd) && fd > 2 ? fd : undefined;
}

/** A program that its launch script restarts continues its conversation. */
function sessionIdFor(io: Io, last: StatusRecord | undefined, flags: AgentFlags): string {
  if (flags.resume !== undefined) return flags.resume;
  const isRestart = last?.instance !== undefined && last.instance === io.env.TEAMS_INSTANCE;
  return isRestart ? last.sessionId : newUuid();
}

interface StatusInput extends Pick<ReadyTeammate, "ref" | "name" | "sessionId"> {
  readonly io: Io;
  readonly last: StatusRecord | undefined;
  readonly host: InProcessHost | undefined;
}

function openStatus({ io, ref, name, sessionId, last, host }: StatusInput): StatusKeeper {
  const facts = {
    ...ownFacts(ref, name, sessionId),
    ...(io.env.TEAMS_INSTANCE === undefined ? {} : { instance: io.env.TEAMS_INSTANCE }),
    ...(host === undefined ? ownPlace(io.env) : { shared: true }),
  };
  return host === undefined
    ? createStatusKeeper(ref, name, facts, last, systemClock, paneBorderUpdater(io.env))
    : createStatusKeeper(ref, name, facts, last, systemClock, host.reportState, host.isOver);
}
