import { join } from "node:path";
import { requireSandbox } from "../../agent/sandbox/require-sandbox.ts";
import { inProcessBackend } from "../../backend/in-process/in-process-backend.ts";
import { callersSocket } from "../../backend/tmux/server-for.ts";
import { messageOf, TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { createTeam } from "../../operations/create-team.ts";
import { recordLeadLimits } from "../../operations/spawn/tool-limits.ts";
import { systemClock } from "../../os/clock.ts";
import { openLogFile } from "../../os/files/capped-log.ts";
import { ensureDir } from "../../os/files/fs.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import { saveTerminalModes } from "../../os/process/terminal-modes.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { liveSettings } from "../../settings/live-settings.ts";
import { ignoredLines, permittedMode } from "../../settings/settings.ts";
import { readTeam } from "../../team/config/config.ts";
import { removeTeamFiles } from "../../team/config/delete-files.ts";
import { keptConfig } from "../../team/config/kept-config.ts";
import { setMode } from "../../team/members/permission-mode.ts";
import { movableRef, type TeamRef, teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { liveRegion } from "../../terminal/live/live-region.ts";
import { wantsColors } from "../../terminal/output.ts";
import { createPaneView, type PaneView } from "../../terminal/pane/pane-view.ts";
import { canDraw, terminalAbilities } from "../../terminal/terminal-abilities.ts";
import { homePath } from "../../text/home-path.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { socketArguments } from "../../tmux/server.ts";
import { ManualBell } from "../../wakeup/bell.ts";
import { withDebugLog } from "../debug-view.ts";
import { EarlyProblems } from "../early-problems.ts";
import { reportEventFailures } from "../event-failures.ts";
import { createNotifier } from "../notify/notifier.ts";
import { withNotifications } from "../notify/notifying-view.ts";
import { operationContext } from "../operation-context.ts";
import { inProcessRunner } from "../teammate/run-in-process.ts";
import { openScreen } from "./attach-screen.ts";
import {
  hidesLeadOutput,
  isInteractive,
  type Lead,
  type LeadClient,
  type LeadPlan,
  type LedTeam,
  withWaitNotices,
} from "./lead.ts";
import { recordNewLead } from "./record-new-lead.ts";
import { recordCli, resumeRun } from "./resume-run.ts";
import { recordRun } from "./run-summary.ts";
import { outputRows } from "./team-view.ts";

/**
 * Creates or resumes the plan's team and opens this process as its lead.
 * @param client shows the lead to its user, instead of the terminal
 */
export async function openRun(call: AnyCall, plan: LeadPlan, client?: LeadClient): Promise<Lead> {
  let lead: Lead | undefined;
  const settings = liveSettings(teamsHome(call.io.env).root, call.io.cwd, (problem) =>
    lead?.view.error(problem),
  );
  if (settings().teams.sandbox.mode === "required") await requireSandbox("the lead", call.io.env);
  const open = plan.resumes === undefined ? createLedTeam : resumeRun;
  const opened = await open(call, plan, settings);
  lead = await removeTeamOnFailure({ plan, ctx: opened }, () =>
    openLead(call, plan, { ...opened, settings, client }),
  );
  return lead;
}

/** Creates the team, with this process as its lead. */
async function createLedTeam({ io }: AnyCall, plan: LeadPlan, settings: Lead["settings"]): Promise<LedTeam> {
  const before = permittedMode(plan.mode, settings(), io.env);
  const { ref, sessionId } = await createTeam(teamsHome(io.env), systemClock, {
    name: plan.team,
    cwd: io.cwd,
    model: plan.model,
    mode: before,
    process: ownIdentity(),
    recording: plan.screens,
    ...(Object.keys(plan.budget).length === 0 ? {} : { budget: plan.budget }),
  }).catch((error: unknown) => {
    throw withNextSteps(error, plan.team);
  });
  await removeTeamOnFailure({ plan, ctx: { ref } }, async () => {
    await recordCli(ref, plan);
    await recordLeadLimits(ref, plan.limits);
    await recordNewLead(ref, plan, io, settings());
  });
  if (!plan.delegate) return { ref, sessionId, mode: before };
  // Set after creation: teammates inherit the mode before it.
  await removeTeamOnFailure({ plan, ctx: { ref } }, () => setMode(ref, LEAD_NAME, "delegate"));
  return { ref, sessionId, mode: "delegate" };
}

/** Replaces the hint of TEAM_EXISTS: `teams run` has no --unique. */
function withNextSteps(error: unknown, team: string): unknown {
  if (!(error instanceof TeamError && error.code === "TEAM_EXISTS")) return error;
  const words = optionWords("--team", team);
  return new TeamError("TEAM_EXISTS", error.message, {
    hint: `Choose another name. Or attach to that team: teams attach ${words}; resume it if its lead has ended: teams run --resume ${words}; delete it: teams delete ${operand(team)}`,
    ...(error.details === undefined ? {} : { details: error.details }),
  });
}

/**
 * Runs a step before the lead starts. If the step fails, removes the team that this run has created; a resumed team stays.
 */
export async function removeTeamOnFailure<T>(
  { plan, ctx }: { readonly plan: LeadPlan; readonly ctx: { readonly ref: TeamRef } },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (plan.resumes === undefined) await removeTeamFiles(ctx.ref);
    throw error;
  }
}

async function openLead(
  call: AnyCall,
  plan: LeadPlan,
  opened: LedTeam & Pick<Lead, "settings" | "client">,
): Promise<Lead> {
  const { io } = call;
  const { sessionId, settings, mode, client } = opened;
  const problems = new EarlyProblems();
  const kept = keptConfig((error) => problems.report(messageOf(error)));
  const ref = movableRef({ ...opened.ref, keptConfig: kept });
  const children = new ManualBell(() => undefined);
  const own = { ...call, io: { ...io, env: { ...io.env, ...plan.env } } };
  const open = { home: ref.home, ref, config: readTeam(ref), actor: LEAD_NAME };
  const paneOptions = {
    width: () => io.columns ?? 80,
    ...(io.terminal.stdout && { height: () => io.rows ?? 24 }),
    plain: !(call.out.json ? io.terminal.stderr : io.terminal.stdout) || !wantsColors(io.env, true),
  };
  const inProcess = inProcessBackend({
    // A request in a teammate's view must fit into the rows of that view.
    runWorker: inProcessRunner(own, {
      ...paneOptions,
      ...(io.terminal.stdout && { height: () => outputRows(io.rows ?? 24) }),
    }),
    problem: (text) => view.error(text),
  });
  const ignored = ignoredLines(settings());
  const ctx = await operationContext(own, open, settings(), {
    onChildBell: () => children.ring(),
    inProcess,
  });
  const place = await ctx.backends.choose(plan.spawn.mode ?? "auto", "run");
  const abilities = terminalAbilities(io.env);
  const isDrawn = isInteractive(call) && plan.cli?.ownScreen !== true && canDraw(io.env);
  const screen =
    isDrawn && place.backend === inProcess
      ? openScreen(call, ref, inProcess, { plain: paneOptions.plain, ascii: abilities.ascii })
      : undefined;
  const region =
    isDrawn && screen === undefined
      ? liveRegion({
          height: () => io.rows ?? 24,
          ...paneOptions,
          out: io.out,
          ascii: abilities.ascii,
          apart: true,
        })
      : undefined;
  const display = screen ?? region;
  const ends = [() => notifier.close()];
  const pane = createPaneView({
    ...paneOptions,
    write:
      plan.cli?.ownScreen === true
        ? writerForOwnScreen(call, ref, ends)
        : display === undefined
          ? writerOf(call)
          : (text) => display.write(text),
    region: display,
    markdown: io.terminal.stdout && !call.out.json,
    abilities,
    name: LEAD_NAME,
    cwd: io.cwd,
    rings: io.terminal.stdout && !call.out.json && plan.cli?.ownScreen !== true,
    readOnly: !io.terminal.stdin || plan.cli?.ownScreen === true,
  });
  const notifier = createNotifier({
    settings,
    ref,
    agent: LEAD_NAME,
    cwd: io.cwd,
    env: ctx.env,
    clock: ctx.clock,
    problem: (text) => view.error(text),
  });
  const logged = withDebugLog({ ...pane, ...client?.view }, { root: ref.home.root, sessionId, env: ctx.env });
  const notifying = withNotifications(logged, LEAD_NAME, async () => notifier);
  const report = (text: string): void => io.err(`teams: ${stripControls(text)}\n`);
  const view: PaneView = hidesLeadOutput(call) ? withWaitNotices(notifying, report) : notifying;
  problems.showBy((text) => view.error(text));
  reportEventFailures(ref, (text) => view.note(text));
  const noteOwnPlacement = (): void => notePlacement(call, ctx, view, place, screen !== undefined);
  const showHeader = (): void => {
    view.header({
      team: ref.team,
      model: plan.model,
      mode,
      cwd: homePath(io.cwd, io.env.HOME),
      hint: io.terminal.stdin
        ? `type a line to the lead · /help · ${canDraw(io.env) ? "Esc interrupts it · Ctrl-C twice" : "Ctrl-C"} ends the run`
        : "",
    });
    for (const text of ignored) view.note(text);
    noteOwnPlacement();
  };
  return {
    call,
    plan,
    client,
    ctx,
    settings,
    sessionId,
    view,
    mode,
    children,
    inProcess,
    screen,
    region,
    exit: undefined,
    hasOwnInput: false,
    recorder: recordRun(ctx, sessionId, (text) => view.error(text)),
    showHeader,
    notePlacement: noteOwnPlacement,
    teamMoved: async () => undefined,
    ends,
  };
}

function writerOf(call: AnyCall): (text: string) => void {
  if (hidesLeadOutput(call)) return () => undefined;
  return call.out.json ? call.io.err : call.io.out;
}

/** Writes to a file while a CLI has the terminal, and to the terminal when the lead has ended. */
function writerForOwnScreen(call: AnyCall, ref: TeamRef, ends: Lead["ends"]): (text: string) => void {
  const { run } = ref.paths.agent(LEAD_NAME);
  ensureDir(run);
  const log = openLogFile(join(run, "channel.log"));
  const restoreTerminal = saveTerminalModes();
  let isOver = false;
  ends.push(async () => {
    call.io.out(restoreTerminal());
    isOver = true;
    log.close();
  });
  return (text) => (isOver ? call.io.out(text) : log.write(text));
}

/** Notes where the teammates will run, unless their panes appear in front of the user. */
function notePlacement(
  call: AnyCall,
  ctx: OperationContext,
  view: PaneView,
  { backend, why }: Awaited<ReturnType<OperationContext["backends"]["choose"]>>,
  isInProcess: boolean,
): void {
  if (isInProcess) {
    view.note("teammates work in this process: Shift+Down shows them, Ctrl+T the tasks");
    return;
  }
  if (call.io.env.TMUX) return;
  // A tmux command, not `teams attach`: it works in any shell, even if that has another TEAMS_HOME.
  const attach = `${["tmux", ...socketArguments(callersSocket(call.io.env)), "attach", "-t"].join(" ")} teams-${ctx.ref.team}`;
  const where = backend.type === "tmux" ? `watch them: ${attach}` : "see teams peek <name>";
  view.note(`teammates: ${why} · ${where}`);
}
