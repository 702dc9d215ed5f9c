import { type InProcessBackend, inProcessBackend } from "../backend/in-process.ts";
import { callersSocket } from "../backend/servers.ts";
import { EXIT, messageOf, TeamError } from "../errors.ts";
import type { LeadContext } from "../lead/context.ts";
import { createTeam } from "../lead/create-team.ts";
import { endRun } from "../lead/end-run.ts";
import { supervise } from "../lead/supervise.ts";
import type { WorktreeEnd } from "../lead/worktree-end.ts";
import { systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { ownIdentity } from "../os/identity.ts";
import { operand, optionWords, shellWord } from "../os/shell-words.ts";
import { stripControls } from "../os/terminal-text.ts";
import { permissionMode } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { readTeam, removeTeamFiles } from "../team/config.ts";
import type { TeamRef } from "../team/ref.ts";
import { giveMode } from "../team/restarts.ts";
import { argsOf } from "../tmux/server.ts";
import { Rings } from "../wakeup/rings.ts";
import type { Worker, WorkerEnd } from "../worker/worker.ts";
import type { AnyCall } from "./command.ts";
import { leadContext } from "./context.ts";
import { debugged } from "./debug-view.ts";
import { homeOf } from "./home.ts";
import { readKeys } from "./lead-keys.ts";
import { type LeadScreen, leadScreen } from "./lead-screen.ts";
import { type Lead, type LeadPlan, leadWorker } from "./lead-worker.ts";
import { createPaneView, type PaneView } from "./pane-view.ts";
import { RECORDING, writeRecording } from "./recording.ts";
import { runInside } from "./run-inside.ts";
import { type RunResult, reportToSession } from "./run-result.ts";
import { bypassForbidden, type LoadedSettings, loadSettings } from "./settings.ts";
import { closeSidebar, openSidebar } from "./sidebar-split.ts";
import { keptLines } from "./worktree-text.ts";

/** Milliseconds that teammates have to agree at the end of a run, before signals; less where somebody waits at a Ctrl-C. */
const END_TIMEOUT = 10_000;
const STOP_TIMEOUT = 5_000;
/** The signal of a terminal that has gone: a closed pane, a lost connection, the end of its tmux server. */
const HANGUP = "SIGHUP";

/** Leads a team in this process until its goal is reached, prints the result, and leaves nothing behind. */
export async function leadHere(call: AnyCall, plan: LeadPlan): Promise<number> {
  const { io } = call;
  const signal = io.interruption();
  const lead = await begin(call, plan);
  const { worker, status } = await orNoTeam(lead.ctx.ref, () => leadWorker(lead, signal));
  reportToSession(io.env, { kind: "started" });
  const sidebar = await tryOpenSidebar(lead);
  const watching = new AbortController();
  let end: WorkerEnd = "stopped";
  let kept: readonly WorktreeEnd[] = [];
  const stopReading = readKeys(lead, worker, signal);
  const followMode = modeFollower(lead, worker);
  const watch = supervise(lead.ctx, {
    signal: watching.signal,
    // The news comes to the lead as a message, which its pane shows.
    onEnd: () => undefined,
    onChange: () => {
      followMode();
      lead.inside.lookForWishes();
      worker.lookAgain();
    },
    onProblem: (text) => lead.view.error(text),
    servers: {
      onEnd: (socket) => lead.view.note(`the tmux server of the teammates' panes has ended: ${socket}`),
      onWatches: (watches) => status.watches(watches),
    },
  }).catch((error: unknown) => lead.view.error(messageOf(error)));
  try {
    if (lead.hasGoal) await worker.typed(plan.goal);
    else lead.view.note("what is to be done? Type it, and Enter");
    end = await worker.run();
  } finally {
    stopReading();
    watching.abort();
    await watch;
    for (const stop of lead.ends) await stop();
    if (signal.reason === HANGUP) await leave(lead);
    else kept = await finish(lead, end, sidebar, worker.lastText);
  }
  return conclude(lead, { end, kept }, worker);
}

/** Whoever changes the lead's own mode does so in the team's file: nobody may send it a message about that. */
function modeFollower({ ctx, view, mode }: Lead, { plan, desk }: Worker): () => void {
  let seen: string | undefined = mode;
  return () => {
    const wanted = modeInFile(ctx.ref);
    if (wanted === undefined || wanted === seen) return;
    seen = wanted;
    const why = plan.setMode(wanted);
    view.note(
      `permission mode ${why === undefined ? "is now" : `is forbidden by ${why}, and not`} ${wanted}`,
    );
    desk.reconsider().catch((error: unknown) => view.error(messageOf(error)));
  };
}

function modeInFile(ref: TeamRef): PermissionMode | undefined {
  try {
    const lead = readTeam(ref).members.find(({ name }) => name === LEAD_NAME);
    return permissionMode.safeParse(lead?.mode).data;
  } catch (error) {
    // Its end, or what is wrong with its file, is told by whoever has to do with that.
    if (error instanceof TeamError) return undefined;
    throw error;
  }
}

/** Makes the team, with this process as its lead. */
async function begin(call: AnyCall, plan: LeadPlan): Promise<Lead> {
  const { io } = call;
  const home = homeOf(io.env);
  const settings = loadSettings(home.root, io.cwd);
  const before = modeOf(plan, settings, io.env);
  const { ref, sessionId } = await createTeam(home, systemClock, {
    name: plan.team,
    cwd: io.cwd,
    model: plan.model,
    mode: before,
    process: ownIdentity(),
    ...(Object.keys(plan.budget).length === 0 ? {} : { budget: plan.budget }),
  });
  return orNoTeam(ref, async () => {
    // Behind the one from before, which its teammates have.
    if (plan.delegate) await giveMode(ref, LEAD_NAME, "delegate");
    const mode = plan.delegate ? "delegate" : before;
    return openLead(call, plan, { ref, sessionId, settings, mode });
  });
}

/** A failure before the lead works takes the team that was just made with it: nothing is left half made. */
async function orNoTeam<T>(ref: TeamRef, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await removeTeamFiles(ref);
    throw error;
  }
}

async function openLead(
  call: AnyCall,
  plan: LeadPlan,
  made: Pick<Lead, "sessionId" | "settings" | "mode"> & { readonly ref: TeamRef },
): Promise<Lead> {
  const { io } = call;
  const { ref, sessionId, settings, mode } = made;
  const children = new Rings(() => undefined);
  const own = { ...call, io: { ...io, env: { ...io.env, ...plan.env } } };
  const open = { home: ref.home, ref, config: readTeam(ref), actor: LEAD_NAME };
  const paper = {
    width: () => process.stdout.columns ?? 80,
    plain: !(call.out.json ? io.terminal.stderr : io.terminal.stdout) || Boolean(io.env.NO_COLOR),
  };
  const inside = inProcessBackend({ runWorker: runInside(own, paper) });
  const ctx = await leadContext(own, open, settings, {
    onChildBell: () => children.ring(),
    inProcess: inside,
  });
  const place = await ctx.backends.choose(plan.spawn.mode ?? "auto", "run");
  const screen = place.backend === inside ? screenOf(call, ref, inside, paper.plain) : undefined;
  const pane = createPaneView({
    ...paper,
    write: screen === undefined ? writerOf(call) : (text: string) => screen.write(text),
    name: LEAD_NAME,
    rings: io.terminal.stdout && !call.out.json,
  });
  const view = debugged(pane, { root: ref.home.root, sessionId, env: ctx.env });
  view.header({
    team: ref.team,
    model: plan.model,
    cwd: io.cwd,
    hint: io.terminal.stdin
      ? "type a line to talk to the lead, /help for more; Esc interrupts it, Ctrl-C ends the team"
      : "",
  });
  for (const ignored of settings.ignored) view.note(`not trusted, ignored: ${ignored}`);
  sayWhere(call, ctx, view, place, screen !== undefined);
  return {
    call,
    plan,
    ctx,
    settings,
    sessionId,
    view,
    mode,
    children,
    inside,
    screen,
    hasGoal: plan.goal !== "",
    ends: [],
  };
}

/** Where a person sits at both ends, and sees what the lead does. */
function screenOf(
  { io, out, options }: AnyCall,
  ref: TeamRef,
  inside: InProcessBackend,
  plain: boolean,
): LeadScreen | undefined {
  if (!io.terminal.stdin || !io.terminal.stdout || out.json || options.quiet) return undefined;
  const size = () => ({ width: process.stdout.columns ?? 80, height: process.stdout.rows ?? 24 });
  return leadScreen({ ref, inside, out: io.out, size, plain });
}

/** With --json stdout is the result's and stderr the error's; what the lead does is shown there only when asked for. */
function writerOf({ io, out, options }: AnyCall): (text: string) => void {
  if (options.quiet || (out.json && !options.verbose)) return () => undefined;
  return out.json ? io.err : io.out;
}

/** @throws TeamError PERMISSION_DENIED where a setting forbids the mode */
function modeOf(plan: LeadPlan, settings: LoadedSettings, env: Env): PermissionMode {
  const mode = plan.mode ?? settings.permissions.defaultMode ?? "default";
  const forbidden = bypassForbidden(settings, { ...env, ...settings.env });
  if (mode === "bypassPermissions" && forbidden !== undefined) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `The mode bypassPermissions is forbidden by ${forbidden}; nothing was started.`,
      {
        hint: "Name another: --permission-mode acceptEdits",
      },
    );
  }
  return mode;
}

/** Where the teammates will be, for someone who does not see their panes appear. */
function sayWhere(
  call: AnyCall,
  ctx: LeadContext,
  view: PaneView,
  { backend, why }: Awaited<ReturnType<LeadContext["backends"]["choose"]>>,
  isHere: boolean,
): void {
  if (isHere) {
    view.note("teammates work in this process: Shift+Down shows them, Ctrl+T the tasks");
    return;
  }
  if (call.io.env.TMUX) return;
  // tmux's own words: they hold wherever they are typed, also where another root is the default.
  const attach = `${["tmux", ...argsOf(callersSocket(call.io.env)), "attach", "-t"].join(" ")} teams-${ctx.ref.team}`;
  const where = backend.type === "tmux" ? `watch them: ${attach}` : "see teams peek <name>";
  view.note(`teammates: ${why} · ${where}`);
}

async function tryOpenSidebar({ call, plan, ctx, view }: Lead): Promise<boolean> {
  if (!plan.sidebar || ctx.callerPane === undefined || call.out.json) return false;
  try {
    await openSidebar(call.io, ctx.ref, ctx.callerPane);
    return true;
  } catch (error) {
    // A narrow pane has no room for it; the team works without.
    view.note(`no sidebar: ${messageOf(error)}`);
    return false;
  }
}

/** A terminal that was lost is nobody's wish to end anything: the team goes on, as behind a lead that was killed (S43, S51). */
async function leave({ ctx, view, inside }: Lead): Promise<void> {
  await inside.hangUp();
  view.note(`the terminal is gone; the team is left as it is: teams resume ${operand(ctx.ref.team)}`);
  view.end("");
}

/** @returns the worktrees that stay */
async function finish(
  { call, plan, ctx, view }: Lead,
  end: WorkerEnd,
  sidebar: boolean,
  lastWords: string,
): Promise<readonly WorktreeEnd[]> {
  const timeoutMs = end === "stopped" ? STOP_TIMEOUT : END_TIMEOUT;
  if (end === "stopped")
    view.note(`ending the team, within ${timeoutMs / 1000} s; Ctrl-C once more leaves it to teams kill`);
  const reports = await endRun(ctx, { timeoutMs, keep: plan.keep });
  for (const { name, outcome, left } of reports) {
    view.note(`${name}: ${outcome}${left.length === 0 ? "" : `, still there: ${left.join(", ")}`}`);
  }
  const worktrees = reports.flatMap(({ worktree }) => worktree ?? []);
  for (const line of keptLines(worktrees)) view.note(line);
  saveRecording(plan, view);
  view.end(end === "stopped" ? "" : lastWords);
  if (sidebar && ctx.callerPane !== undefined) await closeSidebar(call.io, ctx.ref, ctx.callerPane);
  return worktrees.filter(({ kept }) => kept !== null);
}

/** Behind the end of all who write to it. A run that could not be recorded was a run all the same. */
function saveRecording({ record, env }: LeadPlan, view: PaneView): void {
  const directory = env[RECORDING];
  if (record === undefined || directory === undefined) return;
  try {
    const { agents } = writeRecording(directory, record);
    const turns = Object.values(agents).flat().length;
    view.note(`recorded: ${record} (${turns} turns); play it with teams run --playbook ${shellWord(record)}`);
  } catch (error) {
    view.error(messageOf(error));
  }
}

/** @throws TeamError MODEL_ERROR when the lead's last turn failed */
function conclude(
  { call, ctx, plan }: Lead,
  { end, kept: worktrees }: { readonly end: WorkerEnd; readonly kept: readonly WorktreeEnd[] },
  worker: Worker,
): number {
  const { team } = ctx.ref;
  if (end !== "stopped" && worker.lastFailure !== undefined) {
    throw new TeamError("MODEL_ERROR", `The lead's model failed: ${worker.lastFailure}`, {
      hint: plan.keep ? keptText(team) : "The team was ended; nothing of it is left.",
    });
  }
  const outcome = end === "stopped" ? "interrupted" : "completed";
  if (outcome === "completed") plan.check?.();
  const result: RunResult = {
    team,
    outcome,
    result: worker.lastText,
    ...(worktrees.length === 0 ? {} : { worktrees }),
  };
  const kept = plan.keep ? [keptText(team)] : [];
  // Whoever saw the lead at work has read its last words there.
  const text = call.options.quiet ? [stripControls(worker.lastText)] : [];
  call.out.answer(result, () => [...text, ...kept].join("\n"));
  reportToSession(call.io.env, { kind: "ended", result });
  return outcome === "interrupted" ? EXIT.interrupted : EXIT.done;
}

function keptText(team: string): string {
  return `The team is kept: teams status ${optionWords("--team", team)}`;
}
