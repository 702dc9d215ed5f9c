import { randomUUID } from "node:crypto";
import type { Agent } from "../../agent/agent.ts";
import { EXIT, messageOf } from "../../errors.ts";
import { type AgentFlags, parseAgentArgv } from "../../launch/flags.ts";
import { announceReady } from "../../launch/readiness.ts";
import { systemClock } from "../../os/clock.ts";
import { forgetEnv } from "../../os/env.ts";
import { ownIdentity } from "../../os/identity.ts";
import { planPath, transcriptPath } from "../../protocol/paths.ts";
import {
  type PermissionMode,
  permissionMode,
  type TeamConfig,
  type TeamMember,
} from "../../schema/config.ts";
import { LEAD_NAME, teamDir } from "../../schema/names.ts";
import { readTeam } from "../../team/config.ts";
import { findMember } from "../../team/members.ts";
import { readStatus } from "../../team/records.ts";
import { type TeamRef, teamRef } from "../../team/ref.ts";
import { modeGiven } from "../../team/restarts.ts";
import { createStatusKeeper, type StatusKeeper } from "../../worker/status-keeper.ts";
import { Worker, type WorkerEnd } from "../../worker/worker.ts";
import { borderOf } from "../border.ts";
import type { AnyCall } from "../command.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { createPaneView, type PaneView } from "../pane-view.ts";
import { snapshotOf } from "../snapshots.ts";
import { homeOf } from "../team.ts";
import { readTypedLines } from "../typed-lines.ts";
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

/** What a teammate's process knows of itself before anything heavy is loaded. */
interface Self {
  readonly io: Io;
  readonly flags: AgentFlags;
  readonly ref: TeamRef;
  readonly config: TeamConfig;
  readonly member: TeamMember;
  readonly sessionId: string;
  readonly view: PaneView;
  readonly status: StatusKeeper;
  readonly signal: AbortSignal;
}

/** Ready is announced before model, tools and settings are loaded: its inbox is watched by then, and it can be ended. */
async function runAgent(call: AnyCall): Promise<number> {
  const { io } = call;
  const flags = parseAgentArgv(io.argv);
  const ref = teamRef(homeOf(io.env), teamDir(flags.teamName));
  const config = readTeam(ref);
  const member = findMember(config, flags.agentName);
  const view = openView(io, member);
  const problem = (error: unknown): void => view.error(messageOf(error));
  const bell = await openWorkerBell(ref, member.name, { problem, socketFd: socketOf(io) });
  const sessionId = sessionOf(io, ref, member.name, flags);
  const status = openStatus(io, ref, member.name, sessionId);
  announceReady(ref.paths.agent(member.name));
  const self: Self = {
    io,
    flags,
    ref,
    config,
    member,
    sessionId,
    view,
    status,
    signal: io.interruption(),
  };
  self.view.header({
    team: config.displayName ?? config.name,
    agentType: flags.agentType,
    model: flags.model,
    cwd: io.cwd,
    hint: "type a line and press Enter to talk to it",
  });
  const mode = firstMode(self);
  const worker = new Worker({
    ref,
    name: member.name,
    color: member.color,
    role: "teammate",
    mode: mode.now,
    modeAfterPlan: mode.afterPlan,
    planFile: planPath(ref.home.root, ref.team, member.name),
    transcript: transcriptPath(ref.home.root, sessionId),
    bell,
    status,
    view: self.view,
    clock: systemClock,
    signal: self.signal,
    agent: (own) => assemble(call, self, own),
  });
  const stopReading = readTypedLines(
    (line) => worker.typed(line, true),
    (error) => self.view.error(messageOf(error)),
  );
  try {
    return exitCodeOf(await worker.run(), self);
  } finally {
    stopReading();
  }
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
    ...(io.env.TMUX_PANE === undefined ? {} : { paneId: io.env.TMUX_PANE }),
  };
  return createStatusKeeper(ref, name, facts, systemClock, borderOf(io.env));
}

function openView(io: Io, member: TeamMember): PaneView {
  return createPaneView({
    write: io.out,
    name: member.name,
    color: member.color,
    width: () => process.stdout.columns ?? 80,
    plain: !io.terminal.stdout || Boolean(io.env.NO_COLOR),
  });
}

/**
 * The mode that it was given while it worked, by an earlier process of it; else plan mode by flag or variable. What an
 * approval gives is the mode it was spawned with, else the lead's.
 */
function firstMode({ flags, io, config, member }: Self): { now: PermissionMode; afterPlan: PermissionMode } {
  const lead = permissionMode.safeParse(config.members.find(({ name }) => name === LEAD_NAME)?.mode);
  const given = flags.permissionMode ?? (lead.success ? lead.data : "default");
  const planned = flags.planModeRequired || io.env.CLAUDE_CODE_PLAN_MODE_REQUIRED === "true";
  return { now: modeGiven(member) ?? (planned ? "plan" : given), afterPlan: given };
}

/** Loads what an agent needs, at its first need. */
async function assemble(call: AnyCall, self: Self, worker: Worker): Promise<Agent> {
  const { io, flags, ref, config, member } = self;
  const [{ assembleAgent }, { leadContext }, { loadSettings }, { makeModel }] = await Promise.all([
    import("../agent-parts.ts"),
    import("../context.ts"),
    import("../settings.ts"),
    import("../make-model.ts"),
  ]);
  const settings = loadSettings(ref.home.root, io.cwd);
  for (const line of settings.ignored) self.view.note(`not trusted, ignored: ${line}`);
  const open = { home: ref.home, ref, config, actor: member.name };
  const ctx = await leadContext(call, open, settings);
  const model = await makeModel({
    model: flags.model ?? "scripted",
    agent: member.name,
    program: io.program,
    cwd: io.cwd,
    env: ctx.env,
    names: settings.teams.models,
  });
  return assembleAgent({
    ctx,
    worker,
    role: "teammate",
    model,
    agentType: flags.agentType,
    sessionId: self.sessionId,
    settings,
    spawn: {},
    alone: !io.terminal.stdin,
    allowedTools: flags.allowedTools,
    disallowedTools: flags.disallowedTools,
    tools: flags.tools,
    addDirs: flags.addDirs,
    snapshot: snapshotOf(io.env),
  });
}

function exitCodeOf(end: WorkerEnd, { view, signal }: Self): number {
  if (end === "shutdown") {
    view.shutdownAgreed();
    return EXIT.done;
  }
  if (end === "team-gone") {
    view.note("the team was deleted");
    return EXIT.done;
  }
  // As a shell says it of a program that the signal ended, so that the exit record tells the same.
  return signal.reason === "SIGHUP" ? 129 : signal.reason === "SIGTERM" ? 143 : EXIT.interrupted;
}
