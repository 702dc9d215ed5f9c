import type { WorkerStart } from "../backend/in-process.ts";
import { type AgentFlags, parseAgentArgv } from "../launch/flags.ts";
import { systemClock } from "../os/clock.ts";
import { forgetEnv } from "../os/env.ts";
import { ownIdentity } from "../os/identity.ts";
import { newUuid } from "../os/uuid.ts";
import { transcriptPath } from "../protocol/paths.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import { defined } from "../schema/defined.ts";
import { teamDir } from "../schema/names.ts";
import { readTeam } from "../team/config.ts";
import { findMember } from "../team/members.ts";
import { readStatus } from "../team/records.ts";
import { type TeamRef, teamRef } from "../team/ref.ts";
import type { Bell } from "../wakeup/bell.ts";
import { createStatusKeeper, type StatusKeeper } from "../worker/status-keeper.ts";
import { borderOf } from "./border.ts";
import type { Io } from "./io.ts";
import { ownPlace } from "./own-place.ts";
import { homeOf } from "./team.ts";
import { openWorkerBell } from "./worker-bell.ts";

/** What a teammate in its lead's process has instead of a terminal and a process of its own. */
export interface Inside extends Pick<WorkerStart, "write" | "said" | "reach" | "isOver"> {
  /** Columns of the terminal that shows it. */
  width(): number;
  /** No colours. */
  readonly plain: boolean;
}

/** A teammate that has everything but its work: what its process knows of itself, and what reaches it. */
export interface ReadyTeammate {
  readonly flags: AgentFlags;
  readonly ref: TeamRef;
  readonly config: TeamConfig;
  readonly member: TeamMember;
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

/** @throws TeamError TEAM_NOT_FOUND, AGENT_NOT_FOUND, INVALID_INPUT; what its bell throws */
export async function getReady(io: Io, inside?: Inside): Promise<ReadyTeammate> {
  const flags = parseAgentArgv(io.argv);
  const ref = teamRef(homeOf(io.env), teamDir(flags.teamName));
  const config = readTeam(ref);
  const member = findMember(config, flags.agentName);
  const signal = io.interruption();
  // Told by a bell that is waited for: nobody does before the work has put its view here.
  const told: ReadyTeammate["told"] = { problem: () => undefined };
  const bell = await openWorkerBell(ref, member.name, {
    problem: (error) => told.problem(error),
    socketFd: inside === undefined ? socketOf(io) : undefined,
  });
  const sessionId = sessionOf(io, ref, member.name, flags);
  const status = openStatus(io, ref, member.name, sessionId, inside);
  return defined({ flags, ref, config, member, sessionId, bell, told, status, signal, inside });
}

/** The end of the parent's socket pair; whoever this process starts has no use for its number. */
function socketOf(io: Io): number | undefined {
  const fd = Number(io.env.TEAMS_BELL_FD);
  forgetEnv(["TEAMS_BELL_FD"]);
  return Number.isInteger(fd) && fd > 2 ? fd : undefined;
}

/** A program that its launch script starts once more goes on with its conversation. */
function sessionOf(io: Io, ref: TeamRef, name: string, flags: AgentFlags): string {
  if (flags.resume !== undefined) return flags.resume;
  const before = readStatus(ref, name);
  const again = before?.instance !== undefined && before.instance === io.env.TEAMS_INSTANCE;
  return again ? before.sessionId : newUuid();
}

function openStatus(
  io: Io,
  ref: TeamRef,
  name: string,
  sessionId: string,
  inside: Inside | undefined,
): StatusKeeper {
  const paths = ref.paths.agent(name);
  const facts = {
    sessionId,
    transcript: transcriptPath(ref.home.root, sessionId),
    process: ownIdentity(),
    bell: paths.bell,
    lifeline: paths.lifeline,
    ...(io.env.TEAMS_INSTANCE === undefined ? {} : { instance: io.env.TEAMS_INSTANCE }),
    ...(inside === undefined ? ownPlace(io.env) : { shared: true }),
  };
  return inside === undefined
    ? createStatusKeeper(ref, name, facts, systemClock, borderOf(io.env))
    : createStatusKeeper(ref, name, facts, systemClock, inside.said, inside.isOver);
}
