import { join } from "node:path";
import { EXIT, messageOf } from "../../errors.ts";
import { PLAN_MODE_REQUIRED } from "../../launch/agent-environment.ts";
import { systemClock } from "../../os/clock.ts";
import { fileSize } from "../../os/files/fs.ts";
import { planPath, transcriptPath } from "../../protocol/paths.ts";
import { permissionMode, teamTitle } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { mayHaveHooks } from "../../settings/hook-mentions.ts";
import { readTeam } from "../../team/config/config.ts";
import { keptConfig } from "../../team/config/kept-config.ts";
import { findMember } from "../../team/members/members.ts";
import { grantedMode, modeBeforePlan } from "../../team/members/permission-mode.ts";
import { wantsDebugLog } from "../../telemetry/debug-flag.ts";
import type { DebugLogOptions } from "../../telemetry/debug-log.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { onDoubleInterrupt } from "../../terminal/double-interrupt.ts";
import { readTypedLines, type TypingHandlers } from "../../terminal/input/line-reader.ts";
import { liveRegion } from "../../terminal/live/live-region.ts";
import { wantsColors } from "../../terminal/output.ts";
import type { PaneView } from "../../terminal/pane/pane-view.ts";
import { homePath } from "../../text/home-path.ts";
import type { WorkerEnd } from "../../worker/lifecycle.ts";
import { Worker } from "../../worker/worker.ts";
import { reportEventFailures } from "../event-failures.ts";
import { type Notifier, withNotifications } from "../notify/notifying-view.ts";
import { paneKeys } from "../pane/pane-keys.ts";
import type { ReadyTeammate } from "./become-ready.ts";
import { openView } from "./open-view.ts";
import { type RunningTeammate, settingsOf, signalStatus } from "./running-teammate.ts";

/** Runs a teammate until its end. @returns its exit status */
export async function runTeammate(call: AnyCall, ready: ReadyTeammate): Promise<number> {
  const { io } = call;
  const { flags, sessionId, bell, status, signal } = ready;
  const kept = keptConfig((error) => ready.problems.report(messageOf(error)));
  const ref = { ...ready.ref, keptConfig: kept };
  const config = readTeam(ref);
  const member = findMember(config, ready.name);
  const { log, run } = ref.paths.agent(member.name);
  const ownLog = flags.ownScreen ? join(run, "channel.log") : undefined;
  const { pane, region } = await openView(io, { member, log, ownLog, host: ready.host });
  const logged = await withDebugLogIfAsked(pane, { root: ref.home.root, sessionId, env: io.env });
  const view = withNotifications(logged, member.name, () => openNotifier(self));
  const self: RunningTeammate = { ...ready, ref, config, member, io, view, region, ends: [] };
  ready.problems.showBy((text) => view.error(text));
  if (ready.host === undefined) {
    reportEventFailures(ref, (text) => view.note(text));
    await keepLine(call, self);
    await record(self);
  }
  const mode = firstMode(self);
  view.header({
    team: teamTitle(config),
    agentType: flags.agentType,
    model: flags.model,
    mode: mode.now,
    cwd: homePath(io.cwd, io.env.HOME),
    // In the lead's terminal, the view's title shows the keys.
    hint:
      ready.host === undefined ? "type a line to it · /help · Esc interrupts it · Ctrl-C twice ends it" : "",
  });
  if (flags.resume !== undefined && region !== undefined) {
    const { showRecent } = await import("../pane/recent-conversation.ts");
    showRecent(view, ref, member.name);
  }
  const transcript = transcriptPath(ref.home.root, sessionId);
  if (fileSize(transcript)) view.note("continues its conversation");
  if (ready.isPaneRestart) {
    const { finishPaneRestart } = await import("./finish-pane-restart.ts");
    await finishPaneRestart(call, self);
  }
  if (readMetadata(member, "ownInbox") === true) {
    const { runOwnInbox } = await import("./own-inbox.ts");
    return runOwnInbox(call, self, mode.now).finally(() => endAll(self));
  }
  const worker = new Worker({
    ref,
    name: member.name,
    color: member.color,
    role: "teammate",
    entry: member,
    initialMode: mode.now,
    modeAfterPlan: mode.afterPlan,
    planFile: planPath(ref.home.root, ref.team, member.name),
    transcript,
    bell,
    status,
    view,
    clock: systemClock,
    signal,
    createAgent: async (own) => {
      const { assembleTeammate } = await import("./assemble-teammate.ts");
      return assembleTeammate(call, self, own);
    },
    ...(readMetadata(member, "cli") === undefined
      ? { preparesAgent: await mayHaveHooks(ref.home.root, io.cwd, ["SessionStart"]) }
      : { awaitsAgent: true, agreesUnanswered: true }),
    agreeToShutdown: async (requestId) => {
      const { agreeInPlace } = await import("./assemble-teammate.ts");
      await agreeInPlace(call, self, worker, requestId);
    },
  });
  const stopReading = readLines(call, worker, self, mode.now);
  try {
    return exitCodeOf(await worker.run(), self);
  } finally {
    stopReading();
    await endAll(self);
  }
}

/** Loads the code only for a team that is recorded: every start waits for it. */
async function record({ io, ref, config, member, view }: RunningTeammate): Promise<void> {
  const directory = readMetadata(member, "recording") ?? readMetadata(config, "recording");
  if (directory === undefined) return;
  const { recordScreen } = await import("../screen-recording.ts");
  const copies = readMetadata(member, "typed") === true;
  await recordScreen({ io, ref, name: member.name, directory, copies, problem: (text) => view.note(text) });
}

async function endAll({ ends }: RunningTeammate): Promise<void> {
  for (const end of ends) await end();
}

/** Keeps the team's status line current; the lead does it for the teammates in its process. */
async function keepLine(
  call: AnyCall,
  { ref, name, config, view, line, ends }: RunningTeammate,
): Promise<void> {
  const [{ keepStatusLine }, { filesContext }] = await Promise.all([
    import("../status-line-file.ts"),
    import("../operation-context.ts"),
  ]);
  const ctx = filesContext(call, { home: ref.home, ref, config, actor: name });
  const file = keepStatusLine(ctx, { own: name, watches: true, problem: (text) => view.error(text) });
  line.changed = () => file.changed();
  ends.push(() => file.end());
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
function readLines(
  call: AnyCall,
  worker: Worker,
  { ref, member, host, view, region, signal, flags }: RunningTeammate,
  mode: PermissionMode,
): () => void {
  const { io } = call;
  if (flags.ownScreen) return () => undefined;
  const exit = async (): Promise<void> => {
    const { askForShutdown } = await import("./ask-shutdown.ts");
    await askForShutdown(call, { ref, member, view });
  };
  const pane = { ref, name: member.name, call, view, worker, own: { exit }, mode };
  if (host === undefined) {
    const endings = onDoubleInterrupt(() => view.noteAtOnce("Ctrl-C once more ends this agent"), signal);
    const size = { width: () => io.columns ?? 80, height: () => io.rows ?? 24 };
    const plain = region === undefined || !wantsColors(io.env, true);
    const { width } = size;
    const clear = (): void => region?.clear();
    const keys = paneKeys({ ...pane, plain, width, clear });
    const handlers: TypingHandlers = {
      ...keys,
      line: (line, begun) => {
        endings.forget();
        return keys.line(line, begun);
      },
      mayInterrupt: endings.press,
    };
    return readTypedLines(region ?? liveRegion({ ...size, out: io.err, plain: true }), handlers);
  }
  const { plain, width } = host;
  const keys = paneKeys({ ...pane, plain, width, clear: () => undefined });
  host.connect({
    typed: (line, begun) => keys.line(line, begun),
    interrupt: () => worker.interrupt(),
    answers: keys.answers,
    answer: keys.answer,
    nextMode: keys.shiftTab,
    expand: () => view.expand(),
    complete: keys.complete,
  });
  return () => undefined;
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

/** @throws TeamError CORRUPT_FILE for invalid settings */
async function openNotifier(self: RunningTeammate): Promise<Notifier> {
  const [settings, { createNotifier }] = await Promise.all([
    settingsOf(self),
    import("../notify/notifier.ts"),
  ]);
  const { ref, io, member, view } = self;
  const problem = (text: string): void => view.error(text);
  const opened = createNotifier({
    ...{ settings, ref, agent: member.name, cwd: io.cwd, env: io.env },
    ...{ clock: systemClock, problem },
  });
  self.ends.push(() => opened.close());
  return opened;
}

function exitCodeOf(end: WorkerEnd, { view, signal }: RunningTeammate): number {
  if (end === "shutdown") {
    view.shutdownAgreed();
    return EXIT.done;
  }
  // A person quit the CLI in its own screen.
  if (end === "over") return EXIT.done;
  if (end === "team-gone") {
    view.note("the team was deleted");
    return EXIT.done;
  }
  return signalStatus(signal);
}
