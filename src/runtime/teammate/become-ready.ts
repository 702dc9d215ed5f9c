import type { WorkerStart } from "../../backend/in-process/resident-agent.ts";
import { TeamError } from "../../errors.ts";
import { type AgentFlags, parseAgentArgv } from "../../launch/agent-flags.ts";
import { systemClock } from "../../os/clock.ts";
import { forgetEnv } from "../../os/env.ts";
import { entryOf } from "../../os/files/fs.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { newUuid } from "../../os/uuid.ts";
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

/** What a teammate in its lead's process has instead of a terminal and a process of its own. */
export interface Inside extends Pick<WorkerStart, "write" | "reportState" | "connect" | "isOver"> {
  /** Columns of the terminal that shows it. */
  width(): number;
  /** No colours. */
  readonly plain: boolean;
}

/** A teammate that has everything but its work: what its process knows of itself, and what reaches it. */
export interface ReadyTeammate {
  readonly flags: AgentFlags;
  readonly ref: TeamRef;
  /** As the team's file spells it. */
  readonly name: string;
  readonly sessionId: string;
  readonly bell: Bell;
  /** Where the bell says that it could not be mended. */
  readonly told: { problem(error: unknown): void };
  readonly status: StatusKeeper;
  /** Ends it from outside. */
  readonly signal: AbortSignal;
  /** Undefined for one that has a process of its own. */
  readonly inside?: Inside;
}

/**
 * @throws TeamError TEAM_NOT_FOUND, AGENT_NOT_FOUND, INVALID_INPUT; NESTED_TEAM in the shell of an agent, DUPLICATE_NAME where
 * it runs already; what its bell throws
 */
export async function prepareTeammate(io: Io, inside?: Inside): Promise<ReadyTeammate> {
  if (inside === undefined) refuseInAgentsShell(io);
  const flags = parseAgentArgv(io.argv);
  const ref = teamRef(teamsHome(io.env), teamDir(flags.teamName));
  const name = await nameOf(ref, flags.agentName);
  const last = await lastStatus(ref, name);
  if (inside === undefined) refuseSecond(name, last);
  const signal = io.interruption();
  // Told by a bell that is waited for: nobody does before the work has put its view here.
  const told: ReadyTeammate["told"] = { problem: () => undefined };
  const bell = await openWorkerBell(ref, name, {
    problem: (error) => told.problem(error),
    socketFd: inside === undefined ? socketOf(io) : undefined,
  });
  const sessionId = sessionOf(io, last, flags);
  const status = openStatus({ io, ref, name, sessionId, last, inside });
  return defined({ flags, ref, name, sessionId, bell, told, status, signal, inside });
}

/** An agent's shell acts as that agent; a launch script takes its variable out (protocol.md section 6). */
function refuseInAgentsShell({ env }: Io): void {
  if (!env.TEAMS_AGENT) return;
  throw new TeamError(
    "NESTED_TEAM",
    `This shell belongs to the agent ${env.TEAMS_AGENT}; it cannot be another one. Nothing was started.`,
    { hint: "Ask the lead to spawn the teammate that you need." },
  );
}

/** Two processes of one agent would both take its messages, each with rights of its own (S14). */
function refuseSecond(name: string, last: StatusRecord | undefined): void {
  if (last === undefined || last.shared || last.process.pid === process.pid) return;
  if (livenessOf(last.process) !== "alive") return;
  throw new TeamError(
    "DUPLICATE_NAME",
    `${name} is running already, as process ${last.process.pid}. Nothing was started.`,
    { hint: `Give it what it is to do: teams send ${name} "…"` },
  );
}

/** What reads and checks the whole file is loaded only where a glance does not tell. */
async function nameOf(ref: TeamRef, given: string): Promise<string> {
  const spelled = spelledName(ref, given);
  if (spelled !== undefined) return spelled;
  const [{ readTeam }, { findMember }] = await Promise.all([
    import("../../team/config/config.ts"),
    import("../../team/members/members.ts"),
  ]);
  return findMember(readTeam(ref), given).name;
}

/** Of an earlier process of the same teammate; there is none at its first start. */
async function lastStatus(ref: TeamRef, name: string): Promise<StatusRecord | undefined> {
  if (entryOf(ref.paths.agent(name).status) === undefined) return undefined;
  const { readStatus } = await import("../../team/records/read-records.ts");
  return readStatus(ref, name);
}

/** The end of the parent's socket pair; whoever this process starts has no use for its number. */
function socketOf(io: Io): number | undefined {
  const fd = Number(io.env.TEAMS_BELL_FD);
  forgetEnv(["TEAMS_BELL_FD"]);
  return Number.isInteger(fd) && fd > 2 ? fd : undefined;
}

/** A program that its launch script starts once more goes on with its conversation. */
function sessionOf(io: Io, last: StatusRecord | undefined, flags: AgentFlags): string {
  if (flags.resume !== undefined) return flags.resume;
  const again = last?.instance !== undefined && last.instance === io.env.TEAMS_INSTANCE;
  return again ? last.sessionId : newUuid();
}

interface StatusInput extends Pick<ReadyTeammate, "ref" | "name" | "sessionId"> {
  readonly io: Io;
  readonly last: StatusRecord | undefined;
  readonly inside: Inside | undefined;
}

function openStatus({ io, ref, name, sessionId, last, inside }: StatusInput): StatusKeeper {
  const facts = {
    ...ownFacts(ref, name, sessionId),
    ...(io.env.TEAMS_INSTANCE === undefined ? {} : { instance: io.env.TEAMS_INSTANCE }),
    ...(inside === undefined ? ownPlace(io.env) : { shared: true }),
  };
  return inside === undefined
    ? createStatusKeeper(ref, name, facts, last, systemClock, paneBorderUpdater(io.env))
    : createStatusKeeper(ref, name, facts, last, systemClock, inside.reportState, inside.isOver);
}
