import type { Agent } from "../../agent/agent.ts";
import { SCRIPTED } from "../../agent/model/model-names.ts";
import { EXIT, messageOf } from "../../errors.ts";
import { PLAN_MODE_REQUIRED } from "../../launch/agent-environment.ts";
import { systemClock } from "../../os/clock.ts";
import { planPath, transcriptPath } from "../../protocol/paths.ts";
import { permissionMode, type TeamConfig, type TeamMember, teamTitle } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import { readTeam } from "../../team/config/config.ts";
import { keptConfig } from "../../team/config/kept-config.ts";
import { findMember } from "../../team/members/members.ts";
import { grantedMode, modeBeforePlan } from "../../team/members/permission-mode.ts";
import { wantsDebugLog } from "../../telemetry/debug-flag.ts";
import type { DebugLogOptions } from "../../telemetry/debug-log.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { onDoubleInterrupt } from "../../terminal/double-interrupt.ts";
import { type TypingRow, typingRow } from "../../terminal/input-row.ts";
import type { Io } from "../../terminal/io.ts";
import { readTypedLines, type TypingHandlers } from "../../terminal/line-reader.ts";
import { createPaneView, type PaneView } from "../../terminal/pane-view.ts";
import type { WorkerEnd } from "../../worker/lifecycle.ts";
import { Worker } from "../../worker/worker.ts";
import { type Notifier, withNotifications } from "../notifying-view.ts";
import type { InProcessHost, ReadyTeammate } from "./become-ready.ts";

interface RunningTeammate extends ReadyTeammate {
  readonly config: TeamConfig;
  readonly member: TeamMember;
  readonly io: Io;
  readonly view: PaneView;
  /** The input row; undefined without its own terminal. */
  readonly typing: TypingRow | undefined;
  /** Loaded at first use. */
  settings?: LiveSettings;
  /** Called at the end of the teammate to close what it has opened. */
  readonly ends: (() => Promise<void>)[];
}

/** Runs a teammate until its end. @returns its exit status */
export async function runTeammate(call: AnyCall, ready: ReadyTeammate): Promise<number> {
  const { io } = call;
  const { flags, sessionId, bell, status, signal } = ready;
  const config = readTeam(ready.ref);
  const ref = { ...ready.ref, keptConfig: keptConfig((error) => view.error(messageOf(error))) };
  const member = findMember(config, ready.name);
  const { pane, typing } = await openView(io, member, ref.paths.agent(member.name).log, ready.host);
  const logged = await withDebugLogIfAsked(pane, { root: ref.home.root, sessionId, env: io.env });
  const view = withNotifications(logged, member.name, () => openNotifier(self));
  const self: RunningTeammate = { ...ready, ref, config, member, io, view, typing, ends: [] };
  ready.problems.report = (text) => view.error(text);
  const mode = firstMode(self);
  view.header({
    team: teamTitle(config),
    agentType: flags.agentType,
    model: flags.model,
    mode: mode.now,
    cwd: io.cwd,
    // In the lead's terminal, the view's title shows the keys.
    hint: ready.host === undefined ? "type a line to it · Esc interrupts it · Ctrl-C twice ends it" : "",
  });
  const worker = new Worker({
    ref,
    name: member.name,
    color: member.color,
    role: "teammate",
    initialMode: mode.now,
    modeAfterPlan: mode.afterPlan,
    planFile: planPath(ref.home.root, ref.team, member.name),
    transcript: transcriptPath(ref.home.root, sessionId),
    bell,
    status,
    view,
    clock: systemClock,
    signal,
    createAgent: (own) => assemble(call, self, own),
  });
  const stopReading = readLines(worker, self);
  try {
    return exitCodeOf(await worker.run(), self);
  } finally {
    stopReading();
    for (const end of self.ends) await end();
  }
}

async function withDebugLogIfAsked(
  pane: PaneView,
  session: Omit<DebugLogOptions, "problem">,
): Promise<PaneView> {
  if (!wantsDebugLog(session.env)) return pane;
  const { withDebugLog } = await import("../debug-view.ts");
  return withDebugLog(pane, session);
}

/** Reads lines and keys from its terminal; an in-process teammate gets them from the lead's. */
function readLines(worker: Worker, { io, host, view, typing, signal }: RunningTeammate): () => void {
  if (host === undefined) {
    const endings = onDoubleInterrupt(() => view.noteAtOnce("Ctrl-C once more ends this agent"), signal);
    const handlers: TypingHandlers = {
      line: (line) => {
        endings.forget();
        return worker.handleTypedLine(line);
      },
      escape: () => void worker.interrupt(),
      mayInterrupt: endings.press,
      problem: (error) => view.error(messageOf(error)),
    };
    return typing === undefined
      ? readTypedLines(io.err, handlers)
      : readTypedLines(typing.echo, handlers, typing.editor);
  }
  host.connect({ typed: (line) => worker.handleTypedLine(line), interrupt: () => worker.interrupt() });
  return () => undefined;
}

/** @param log path of the file for its output if it has no terminal */
async function openView(
  io: Io,
  member: TeamMember,
  log: string,
  host: InProcessHost | undefined,
): Promise<{ readonly pane: PaneView; readonly typing: TypingRow | undefined }> {
  const { name, color } = member;
  if (host !== undefined) return { pane: createPaneView({ ...host, name, color }), typing: undefined };
  const width = (): number => io.columns ?? 80;
  if (!io.terminal.stdout) {
    const { writerToLog } = await import("../../os/files/capped-log.ts");
    const write = writerToLog(io.out, log);
    return {
      pane: createPaneView({
        write,
        name,
        color,
        width,
        plain: true,
        rings: false,
        readOnly: !io.terminal.stdin,
      }),
      typing: undefined,
    };
  }
  const plain = Boolean(io.env.NO_COLOR);
  const typing = typingRow({ out: io.out, width, plain });
  return {
    pane: createPaneView({
      write: typing.write,
      typing,
      name,
      color,
      width,
      plain,
      rings: true,
      readOnly: !io.terminal.stdin,
    }),
    typing,
  };
}

/**
 * Returns the mode at the start: the mode set while an earlier process ran, else plan mode by flag or variable, else that of
 * the flags or the lead's. `afterPlan` is the mode once its plan is approved: the mode before the switch to plan mode, else
 * that of the flags or the lead's.
 */
function firstMode({ flags, io, config, member }: RunningTeammate): {
  now: PermissionMode;
  afterPlan: PermissionMode;
} {
  const lead = permissionMode.safeParse(config.members.find(({ name }) => name === LEAD_NAME)?.mode);
  const isGivenPlan = flags.permissionMode === "plan";
  const inherited = lead.success ? lead.data : "default";
  const given = isGivenPlan ? inherited : (flags.permissionMode ?? inherited);
  const planned = flags.planModeRequired || isGivenPlan || io.env[PLAN_MODE_REQUIRED] === "true";
  return {
    now: grantedMode(member) ?? (planned ? "plan" : given),
    afterPlan: modeBeforePlan(member) ?? given,
  };
}

/** Returns settings that are always current. */
async function settingsOf(self: RunningTeammate): Promise<LiveSettings> {
  const { liveSettings } = await import("../../settings/live-settings.ts");
  const { ref, io, view } = self;
  self.settings ??= liveSettings(ref.home.root, io.cwd, (problem) => view.error(problem));
  return self.settings;
}

/** @throws TeamError CORRUPT_FILE for invalid settings */
async function openNotifier(self: RunningTeammate): Promise<Notifier> {
  const [settings, { createNotifier }] = await Promise.all([settingsOf(self), import("../notifier.ts")]);
  const { ref, io, member, view } = self;
  const problem = (text: string): void => view.error(text);
  const opened = createNotifier({ settings, ref, agent: member.name, cwd: io.cwd, env: io.env, problem });
  self.ends.push(async () => opened.close());
  return opened;
}

/** Loads the agent's modules and creates it, at its first turn. */
async function assemble(call: AnyCall, self: RunningTeammate, worker: Worker): Promise<Agent> {
  const { io, flags, ref, config, member } = self;
  const [
    { assembleAgent },
    { operationContext },
    { modelsOf },
    { openAgentResources },
    { openAgentSandbox },
    { openAgentType },
    { readMetadata, typesDirectory },
    { snapshotOf },
  ] = await Promise.all([
    import("../agent/assemble-agent.ts"),
    import("../operation-context.ts"),
    import("../agent/models.ts"),
    import("../agent/agent-resources.ts"),
    import("../agent/agent-sandbox.ts"),
    import("../agent/load-agent-types.ts"),
    import("../../schema/member-metadata.ts"),
    import("../../launch/shell-snapshot.ts"),
  ]);
  const live = await settingsOf(self);
  const settings = live();
  for (const line of settings.ignored) self.view.note(`${settings.ignoredReason}, ignored: ${line}`);
  const open = { home: ref.home, ref, config, actor: member.name };
  const ctx = await operationContext(call, open, settings);
  const modelFor = modelsOf(flags.model ?? SCRIPTED, ctx, settings);
  const note = (line: string): void => self.view.note(line);
  const { disallowedTools: denied } = flags;
  const { typeDenials, ...own } = await openAgentType(
    {
      ...{ name: flags.agentType, root: ref.home.root, cwd: io.cwd, env: ctx.env },
      directory: typesDirectory(member, io.cwd),
      ...{ rules: settings.permissions, denied },
    },
    note,
  );
  const { addDirs } = flags;
  const sandbox = await openAgentSandbox(
    { ctx, name: member.name, settings: live, mode: readMetadata(member, "sandbox"), addDirs },
    note,
  );
  const denials = [...typeDenials, ...(denied ?? [])];
  const resources = await openAgentResources(ctx, settings, denials, note, sandbox);
  self.ends.push(resources.close);
  // After the servers that run in it.
  if (sandbox !== undefined) self.ends.push(sandbox.close);
  return assembleAgent({
    ctx,
    worker,
    role: "teammate",
    model: await modelFor(member.name, undefined),
    modelFor,
    resources,
    sandbox,
    agentType: flags.agentType,
    ...own,
    promptOverrides: readMetadata(member, "promptOverrides") ?? {},
    sessionId: self.sessionId,
    settings: live,
    spawn: {},
    isUnattended: !io.terminal.stdin,
    allowedTools: flags.allowedTools,
    disallowedTools: flags.disallowedTools,
    tools: flags.tools,
    addDirs,
    snapshot: snapshotOf(io.env),
  });
}

function exitCodeOf(end: WorkerEnd, { view, signal }: RunningTeammate): number {
  if (end === "shutdown") {
    view.shutdownAgreed();
    return EXIT.done;
  }
  if (end === "team-gone") {
    view.note("the team was deleted");
    return EXIT.done;
  }
  // 128 + signal number, as a shell reports it; the exit record has the same code.
  return signal.reason === "SIGHUP" ? 129 : signal.reason === "SIGTERM" ? 143 : EXIT.interrupted;
}
