import type { Agent } from "../../agent/agent.ts";
import { SCRIPTED } from "../../agent/model/model-names.ts";
import { EXIT, messageOf } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { planPath, transcriptPath } from "../../protocol/paths.ts";
import { permissionMode, type TeamConfig, type TeamMember } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import { readTeam } from "../../team/config/config.ts";
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
import { type Notifier, notifying } from "../notifying-view.ts";
import type { Inside, ReadyTeammate } from "./become-ready.ts";

interface Self extends ReadyTeammate {
  readonly config: TeamConfig;
  readonly member: TeamMember;
  readonly io: Io;
  readonly view: PaneView;
  /** Where a person types; undefined without a terminal of its own. */
  readonly typing: TypingRow | undefined;
  /** Read at the first need. */
  settings?: LiveSettings;
  /** What it has started, to be ended with it. */
  readonly ends: (() => Promise<void>)[];
}

/** What a teammate does from its readiness to its end. @returns its exit status */
export async function runTeammate(call: AnyCall, ready: ReadyTeammate): Promise<number> {
  const { io } = call;
  const { ref, flags, sessionId, bell, status, signal } = ready;
  const config = readTeam(ref);
  const member = findMember(config, ready.name);
  const { pane, typing } = await openView(io, member, ref.paths.agent(member.name).log, ready.inside);
  const logged = await debuggedAsAsked(pane, { root: ref.home.root, sessionId, env: io.env });
  const view = notifying(logged, member.name, () => openNotifier(self));
  const self: Self = { ...ready, config, member, io, view, typing, ends: [] };
  ready.told.problem = (error) => view.error(messageOf(error));
  const mode = firstMode(self);
  view.header({
    team: titleOf(config),
    agentType: flags.agentType,
    model: flags.model,
    mode: mode.now,
    cwd: io.cwd,
    // Who looks at it in its lead's terminal has the keys before their eyes.
    hint: ready.inside === undefined ? "type a line to it · Esc interrupts it · Ctrl-C twice ends it" : "",
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

async function debuggedAsAsked(pane: PaneView, session: Omit<DebugLogOptions, "problem">): Promise<PaneView> {
  if (!wantsDebugLog(session.env)) return pane;
  const { debugged } = await import("../debug-view.ts");
  return debugged(pane, session);
}

/** By both its names, where it has two: the one that people read, and the one that commands take. */
function titleOf({ name, displayName }: TeamConfig): string {
  return displayName === undefined || displayName === name ? name : `${displayName} (${name})`;
}

/** From its terminal; where it has none of its own, somebody hands it on. */
function readLines(worker: Worker, { io, inside, view, typing, signal }: Self): () => void {
  if (inside === undefined) {
    const endings = onDoubleInterrupt(() => view.atOnce("Ctrl-C once more ends this agent"), signal);
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
  inside.connect({ typed: (line) => worker.handleTypedLine(line), interrupt: () => worker.interrupt() });
  return () => undefined;
}

/** @param log what it writes where it has no terminal */
async function openView(
  io: Io,
  member: TeamMember,
  log: string,
  inside: Inside | undefined,
): Promise<{ readonly pane: PaneView; readonly typing: TypingRow | undefined }> {
  const { name, color } = member;
  if (inside !== undefined) return { pane: createPaneView({ ...inside, name, color }), typing: undefined };
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
        deaf: !io.terminal.stdin,
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
      deaf: !io.terminal.stdin,
    }),
    typing,
  };
}

/**
 * The mode that it was given while it worked, by an earlier process of it; else plan mode by flag or variable. What an
 * approval gives is the mode from before the plan: the one that it had when it was told to plan, else that it was spawned with, else
 * the lead's.
 */
function firstMode({ flags, io, config, member }: Self): { now: PermissionMode; afterPlan: PermissionMode } {
  const lead = permissionMode.safeParse(config.members.find(({ name }) => name === LEAD_NAME)?.mode);
  const given = flags.permissionMode ?? (lead.success ? lead.data : "default");
  const planned = flags.planModeRequired || io.env.CLAUDE_CODE_PLAN_MODE_REQUIRED === "true";
  return {
    now: grantedMode(member) ?? (planned ? "plan" : given),
    afterPlan: modeBeforePlan(member) ?? given,
  };
}

/** Its settings, as they are whenever they are used. */
async function settingsOf(self: Self): Promise<LiveSettings> {
  const { liveSettings } = await import("../../settings/live-settings.ts");
  const { ref, io, view } = self;
  self.settings ??= liveSettings(ref.home.root, io.cwd, (problem) => view.error(problem));
  return self.settings;
}

/** @throws TeamError CORRUPT_FILE for its settings */
async function openNotifier(self: Self): Promise<Notifier> {
  const [settings, { notifier }] = await Promise.all([settingsOf(self), import("../notifier.ts")]);
  const { ref, io, member, view } = self;
  const problem = (text: string): void => view.error(text);
  const own = notifier({ settings, ref, agent: member.name, cwd: io.cwd, env: io.env, problem });
  self.ends.push(async () => own.close());
  return own;
}

/** Loads what an agent needs, at its first need. */
async function assemble(call: AnyCall, self: Self, worker: Worker): Promise<Agent> {
  const { io, flags, ref, config, member } = self;
  const [
    { assembleAgent },
    { operationContext },
    { modelsOf },
    { openSurroundings },
    { openType },
    { readMetadata, typesDirectory },
    { snapshotOf },
  ] = await Promise.all([
    import("../agent/assemble-agent.ts"),
    import("../operation-context.ts"),
    import("../agent/models.ts"),
    import("../agent/agent-resources.ts"),
    import("../agent/load-agent-types.ts"),
    import("../../schema/member-metadata.ts"),
    import("../../launch/shell-snapshot.ts"),
  ]);
  const live = await settingsOf(self);
  const settings = live();
  for (const line of settings.ignored) self.view.note(`not trusted, ignored: ${line}`);
  const open = { home: ref.home, ref, config, actor: member.name };
  const ctx = await operationContext(call, open, settings);
  const modelFor = modelsOf(flags.model ?? SCRIPTED, ctx, settings);
  const tell = (line: string): void => self.view.note(line);
  const { disallowedTools: denied } = flags;
  const { never, ...own } = await openType(
    {
      ...{ name: flags.agentType, root: ref.home.root, cwd: io.cwd, env: ctx.env },
      directory: typesDirectory(member, io.cwd),
      ...{ rules: settings.permissions, denied },
    },
    tell,
  );
  const surroundings = await openSurroundings(ctx, settings, [...never, ...(denied ?? [])], tell);
  self.ends.push(surroundings.close);
  return assembleAgent({
    ctx,
    worker,
    role: "teammate",
    model: await modelFor(member.name, undefined),
    modelFor,
    surroundings,
    agentType: flags.agentType,
    ...own,
    words: readMetadata(member, "promptOverrides") ?? {},
    sessionId: self.sessionId,
    settings: live,
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
