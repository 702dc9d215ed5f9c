import { randomUUID } from "node:crypto";
import { type AgentFlags, parseAgentArgv } from "../../launch/flags.ts";
import { announceReady } from "../../launch/readiness.ts";
import { systemClock } from "../../os/clock.ts";
import { forgetEnv } from "../../os/env.ts";
import { ownIdentity } from "../../os/identity.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import { teamDir } from "../../schema/names.ts";
import { readTeam } from "../../team/config.ts";
import { findMember } from "../../team/members.ts";
import { readStatus } from "../../team/records.ts";
import { type TeamRef, teamRef } from "../../team/ref.ts";
import { createStatusKeeper, type StatusKeeper } from "../../worker/status-keeper.ts";
import { borderOf } from "../border.ts";
import type { AnyCall } from "../command.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { ownPlace } from "../own-place.ts";
import { homeOf } from "../team.ts";
import type { ReadyTeammate } from "../teammate.ts";
import { openWorkerBell } from "../worker-bell.ts";

export const command = defineCommand({
  name: "agent",
  summary: "a teammate's own process; started by spawn and run",
  args: [],
  options: {},
  raw: true,
  examples: [
    "teams agent --agent-id scout@audit --agent-name scout --team-name audit --parent-session-id 0b5e… --agent-type Explore",
  ],
  notes:
    "Flags: --agent-id --agent-name --team-name --agent-color --parent-session-id --agent-type --plan-mode-required\n" +
    "--permission-mode --dangerously-skip-permissions --allowedTools --disallowedTools --tools --add-dir --model --resume.\n" +
    "Unknown flags are ignored.",
  run: async (call) => runAgent(call),
});

/** Ready is announced before anything that only its work needs is loaded: its inbox is watched by then, and it can be ended. */
async function runAgent(call: AnyCall): Promise<number> {
  const ready = await getReady(call.io);
  announceReady(ready.ref.paths.agent(ready.member.name));
  const { work } = await import("../teammate.ts");
  return work(call, ready);
}

/** @throws TeamError TEAM_NOT_FOUND, AGENT_NOT_FOUND, INVALID_INPUT; what its bell throws */
async function getReady(io: Io): Promise<ReadyTeammate> {
  const flags = parseAgentArgv(io.argv);
  const ref = teamRef(homeOf(io.env), teamDir(flags.teamName));
  const config = readTeam(ref);
  const member = findMember(config, flags.agentName);
  const signal = io.interruption();
  // Told by a bell that is waited for: nobody does before the work has put its view here.
  const told: ReadyTeammate["told"] = { problem: () => undefined };
  const bell = await openWorkerBell(ref, member.name, {
    problem: (error) => told.problem(error),
    socketFd: socketOf(io),
  });
  const sessionId = sessionOf(io, ref, member.name, flags);
  const status = openStatus(io, ref, member.name, sessionId);
  return { flags, ref, config, member, sessionId, bell, told, status, signal };
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
  return again ? before.sessionId : randomUUID();
}

function openStatus(io: Io, ref: TeamRef, name: string, sessionId: string): StatusKeeper {
  const paths = ref.paths.agent(name);
  const facts = {
    sessionId,
    transcript: transcriptPath(ref.home.root, sessionId),
    process: ownIdentity(),
    bell: paths.bell,
    lifeline: paths.lifeline,
    ...(io.env.TEAMS_INSTANCE === undefined ? {} : { instance: io.env.TEAMS_INSTANCE }),
    ...ownPlace(io.env),
  };
  return createStatusKeeper(ref, name, facts, systemClock, borderOf(io.env));
}
