import { type InProcessBackend, inProcessBackend } from "../../backend/in-process/in-process-backend.ts";
import { callersSocket } from "../../backend/tmux/server-for.ts";
import { TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { createTeam } from "../../operations/create-team.ts";
import { systemClock } from "../../os/clock.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { liveSettings } from "../../settings/live-settings.ts";
import { permittedMode } from "../../settings/settings.ts";
import { readTeam, removeTeamFiles } from "../../team/config/config.ts";
import { setMode } from "../../team/members/permission-mode.ts";
import { type TeamRef, teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { typingRow } from "../../terminal/input-row.ts";
import { createPaneView, type PaneView } from "../../terminal/pane-view.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { socketArguments } from "../../tmux/server.ts";
import { ManualBell } from "../../wakeup/bell.ts";
import { debugged } from "../debug-view.ts";
import { notifier } from "../notifier.ts";
import { notifying } from "../notifying-view.ts";
import { operationContext } from "../operation-context.ts";
import { runInside } from "../teammate/run-in-process.ts";
import { hidesLeadOutput, type Lead, type LeadPlan, type MadeTeam } from "./lead.ts";
import { resumeRun } from "./resume-run.ts";
import { type LeadScreen, leadScreen } from "./team-screen.ts";

/** Opens the lead of a team that is made for it, or of one whose lead has ended. */
export async function openRun(call: AnyCall, plan: LeadPlan): Promise<Lead> {
  let lead: Lead | undefined;
  const settings = liveSettings(teamsHome(call.io.env).root, call.io.cwd, (problem) =>
    lead?.view.error(problem),
  );
  const make = plan.takesUp === undefined ? makeTeam : resumeRun;
  const made = await make(call, plan, settings);
  lead = await removeTeamOnFailure({ plan, ctx: made }, () => openLead(call, plan, { ...made, settings }));
  return lead;
}

/** Makes the team, with this process as its lead. */
async function makeTeam({ io }: AnyCall, plan: LeadPlan, settings: Lead["settings"]): Promise<MadeTeam> {
  const before = permittedMode(plan.mode, settings(), io.env);
  const { ref, sessionId } = await createTeam(teamsHome(io.env), systemClock, {
    name: plan.team,
    cwd: io.cwd,
    model: plan.model,
    mode: before,
    process: ownIdentity(),
    ...(Object.keys(plan.budget).length === 0 ? {} : { budget: plan.budget }),
  }).catch((error: unknown) => {
    throw withWayOn(error, plan.team);
  });
  if (!plan.delegate) return { ref, sessionId, mode: before };
  // Behind the one from before, which its teammates have.
  await removeTeamOnFailure({ plan, ctx: { ref } }, () => setMode(ref, LEAD_NAME, "delegate"));
  return { ref, sessionId, mode: "delegate" };
}

/** Of a name that is taken: what there is to do in a run, which has no --unique. */
function withWayOn(error: unknown, team: string): unknown {
  if (!(error instanceof TeamError && error.code === "TEAM_EXISTS")) return error;
  const words = optionWords("--team", team);
  return new TeamError("TEAM_EXISTS", error.message, {
    hint: `Choose another name. See it at work: teams attach ${words}; lead it where its lead has ended: teams run --resume ${words}; remove it: teams delete ${operand(team)}`,
    ...(error.details === undefined ? {} : { details: error.details }),
  });
}

/**
 * A failure before the lead works takes the team that was just made with it: nothing is left half made. One that was there
 * stays.
 */
export async function removeTeamOnFailure<T>(
  { plan, ctx }: { readonly plan: LeadPlan; readonly ctx: { readonly ref: TeamRef } },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (plan.takesUp === undefined) await removeTeamFiles(ctx.ref);
    throw error;
  }
}

async function openLead(
  call: AnyCall,
  plan: LeadPlan,
  made: MadeTeam & Pick<Lead, "settings">,
): Promise<Lead> {
  const { io } = call;
  const { ref, sessionId, settings, mode } = made;
  const children = new ManualBell(() => undefined);
  const own = { ...call, io: { ...io, env: { ...io.env, ...plan.env } } };
  const open = { home: ref.home, ref, config: readTeam(ref), actor: LEAD_NAME };
  const paper = {
    width: () => io.columns ?? 80,
    plain: !(call.out.json ? io.terminal.stderr : io.terminal.stdout) || Boolean(io.env.NO_COLOR),
  };
  const inside = inProcessBackend({
    runWorker: runInside(own, paper),
    problem: (text) => view.error(text),
  });
  const { ignored } = settings();
  const ctx = await operationContext(own, open, settings(), {
    onChildBell: () => children.ring(),
    inProcess: inside,
  });
  const place = await ctx.backends.choose(plan.spawn.mode ?? "auto", "run");
  const isLookedAt = isTerminal(call);
  const screen =
    isLookedAt && place.backend === inside ? screenOf(call, ref, inside, paper.plain) : undefined;
  const typing = isLookedAt && screen === undefined ? typingRow({ ...paper, out: io.out }) : undefined;
  const ownPaper = screen ?? typing;
  const pane = createPaneView({
    ...paper,
    write: ownPaper === undefined ? writerOf(call) : (text) => ownPaper.write(text),
    typing: ownPaper,
    name: LEAD_NAME,
    rings: io.terminal.stdout && !call.out.json,
    deaf: !io.terminal.stdin,
  });
  const calling = notifier({
    settings,
    ref,
    agent: LEAD_NAME,
    cwd: io.cwd,
    env: ctx.env,
    problem: (text) => view.error(text),
  });
  const logged = debugged(pane, { root: ref.home.root, sessionId, env: ctx.env });
  const view = withWaitNotices(
    call,
    notifying(logged, LEAD_NAME, async () => calling),
  );
  view.header({
    team: ref.team,
    model: plan.model,
    mode,
    cwd: io.cwd,
    hint: io.terminal.stdin
      ? "type a line to the lead · /help · Esc interrupts it · Ctrl-C twice ends all"
      : "",
  });
  for (const what of ignored) view.note(`not trusted, ignored: ${what}`);
  notePlace(call, ctx, view, place, screen !== undefined);
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
    typing,
    teamMade: async () => undefined,
    ends: [async () => calling.close()],
  };
}

/** Whether a person sits at both ends, and sees what the lead does. */
function isTerminal({ io, out, options }: AnyCall): boolean {
  return io.terminal.stdin && io.terminal.stdout && !out.json && !options.quiet;
}

function screenOf({ io }: AnyCall, ref: TeamRef, inside: InProcessBackend, plain: boolean): LeadScreen {
  const size = () => ({ width: io.columns ?? 80, height: io.rows ?? 24 });
  return leadScreen({ ref, inside, out: io.out, size, plain });
}

/** Where what the lead does is not shown, it is said all the same that somebody is waited for. */
function withWaitNotices(call: AnyCall, view: PaneView): PaneView {
  if (!hidesLeadOutput(call)) return view;
  const { io } = call;
  const say = (text: string): void => io.err(`teams: ${stripControls(text)}\n`);
  return {
    ...view,
    waiting(what, whom) {
      say(what);
      view.waiting(what, whom);
    },
    permission(ask) {
      say(`May it run? ${ask.tool}(${ask.summary}): teams approve ${ask.id}, or teams reject ${ask.id}`);
      view.permission(ask);
    },
  };
}

function writerOf(call: AnyCall): (text: string) => void {
  if (hidesLeadOutput(call)) return () => undefined;
  return call.out.json ? call.io.err : call.io.out;
}

/** Where the teammates will be, for someone who does not see their panes appear. */
function notePlace(
  call: AnyCall,
  ctx: OperationContext,
  view: PaneView,
  { backend, why }: Awaited<ReturnType<OperationContext["backends"]["choose"]>>,
  isHere: boolean,
): void {
  if (isHere) {
    view.note("teammates work in this process: Shift+Down shows them, Ctrl+T the tasks");
    return;
  }
  if (call.io.env.TMUX) return;
  // tmux's own words: they hold wherever they are typed, also where another root is the default.
  const attach = `${["tmux", ...socketArguments(callersSocket(call.io.env)), "attach", "-t"].join(" ")} teams-${ctx.ref.team}`;
  const where = backend.type === "tmux" ? `watch them: ${attach}` : "see teams peek <name>";
  view.note(`teammates: ${why} · ${where}`);
}
