import { ERROR_EXIT, type ErrorCode, EXIT, messageOf, TeamError } from "../../errors.ts";
import type { KillReport } from "../../operations/ending/kill.ts";
import { endRun } from "../../operations/run/end-run.ts";
import { teamLedHere } from "../../operations/run/led-here.ts";
import { type StopReport, stopRun } from "../../operations/run/stop-run.ts";
import { restoreManualLead } from "../../operations/run/take-over-lead.ts";
import type { WorktreeEnd } from "../../operations/worktrees/remove-worktree.ts";
import type { SpentAmount } from "../../schema/budget.ts";
import { teamExists } from "../../team/config/config.ts";
import { failureOf } from "../../terminal/report-error.ts";
import { keptLines } from "../../terminal/worktree-text.ts";
import { optionWords, shellWord } from "../../text/shell-quote.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { WorkerEnd } from "../../worker/lifecycle.ts";
import type { Worker } from "../../worker/worker.ts";
import { RECORDING_VARIABLE, writeRecording } from "../agent/recording.ts";
import { hidesLeadOutput, type Lead } from "./lead.ts";
import { type RunResult, reportToSession } from "./run-result.ts";
import { printWithSummary, type RunSummary, readAgainLine } from "./run-summary.ts";
import { rememberTasks, reportedTasks, taskReport } from "./task-report.ts";
import { continueText, isUntouched, resumeCommand, type TeamFate, unfinishedCount } from "./team-fate.ts";

/** Time limit in milliseconds for teammates to agree to a shutdown at the end of a run, before they get signals. */
const END_TIMEOUT = 10_000;
/** The same after a Ctrl-C, when a person waits for the end. */
const STOP_TIMEOUT = 5_000;

/** The end of a run, as far as its result reports it. */
export interface RunOutcome {
  /** Worktrees that were not removed. */
  readonly keptWorktrees: readonly WorktreeEnd[];
  /** Why the requested recording could not be written; undefined if it was, or none was requested. */
  readonly recordingError?: string | undefined;
  /** Undefined if the team was left: no one reads the result. */
  readonly summary?: RunSummary;
}

interface Ended {
  readonly end: WorkerEnd;
  readonly fate: TeamFate;
  readonly finalText: string;
  /** By the lead. */
  readonly spent: SpentAmount;
}

/** Reads the facts about a team that the run's result needs. Call it before the team is deleted. */
export async function rememberTeam({ ctx, recorder }: Lead): Promise<void> {
  rememberTasks(ctx);
  await recorder.remember();
}

/** Leaves, stops or ends the team, and closes the lead's view. @throws what prevented the end of the team, with how to continue */
export async function settleTeam(lead: Lead, ended: Ended): Promise<RunOutcome> {
  rememberTasks(lead.ctx);
  if (ended.fate === "left") {
    await leaveTeam(lead, ended.end === "stopped" ? "the terminal is gone" : "its lead cannot continue");
    return { keptWorktrees: [] };
  }
  const summary = await lead.recorder.summary(ended.spent);
  const outcome = ended.fate === "stopped" ? await stopTeam(lead, ended) : await endTeam(lead, ended);
  return { ...outcome, summary };
}

/**
 * Leaves the team running when its lead ends unintentionally (a lost terminal, a failure), as if the lead had been killed
 * (S43, S51).
 */
async function leaveTeam({ inProcess, view }: Lead, why: string): Promise<void> {
  await inProcess.hangUp();
  view.note(`${why}; the team is left as it is`);
  view.end("");
}

/**
 * Leaves the team after an error in this process, which must not end or delete anything. Only a team without any work is removed.
 * @returns the error, with how to continue
 */
export async function leaveAfterError(lead: Lead, error: unknown): Promise<unknown> {
  const { ctx, plan, view } = lead;
  try {
    if (isUntouched(lead))
      await endRun(ctx, { timeoutMs: 0, keep: plan.keep, problem: (text) => view.error(text) });
    else if (teamLedHere(ctx) !== undefined) {
      await leaveTeam(lead, "its lead cannot continue");
      return withContinuation(error, ctx.ref.team);
    }
  } catch (cause) {
    view.error(messageOf(cause));
    return withContinuation(error, ctx.ref.team);
  }
  view.end("");
  return error;
}

function withContinuation(error: unknown, team: string): Error {
  const { code, message, hint } = failureOf(error);
  const next = `The team is left as it is. ${continueText(team)}`;
  // A defect of this program keeps its hint to report it.
  if (!Object.hasOwn(ERROR_EXIT, code)) return new Error(`${message} ${next}`, { cause: error });
  return new TeamError(code as ErrorCode, message, {
    cause: error,
    hint: hint === undefined ? next : `${hint} ${next}`,
  });
}

/** Ends the teammates, and keeps the team for `run --resume`. */
async function stopTeam(lead: Lead, { end, finalText }: Ended): Promise<RunOutcome> {
  const { ctx, plan, view } = lead;
  const { team } = ctx.ref;
  const unfinished = unfinishedCount(lead);
  if (unfinished > 0) view.note(`${unfinished === 1 ? "1 task is" : `${unfinished} tasks are`} unfinished`);
  const offer = offerExit(lead, end);
  const words = offer === undefined ? "" : `; ${offer} and leave its teammates running`;
  view.note(`stopping the team, which is kept${words}`);
  try {
    for (const report of await stopRun(ctx)) view.note(endText(report));
    if (plan.resumes?.wasByHand) await restoreManualLead(ctx.ref);
  } catch (error) {
    // The next process that reads the team finishes the work.
    view.error(messageOf(error));
  }
  const recordingError = saveRecording(lead);
  view.end(
    isRead(lead, end) ? "" : finalText,
    epilogueOf(lead, `the run is over; the team ${team} was kept`),
  );
  return { keptWorktrees: [], recordingError };
}

/**
 * Lets one Ctrl-C end this process while teammates end. Until a user reads so, a Ctrl-C may be meant for a typed line.
 * @returns the words for the user; undefined if one Ctrl-C does nothing
 */
function offerExit({ call, ctx }: Lead, end: WorkerEnd): string | undefined {
  const { io } = call;
  const isRead = io.terminal.stdin && !hidesLeadOutput(call);
  const hasTeammates = (): boolean => (teamLedHere(ctx)?.members.length ?? 0) > 1;
  if (end !== "stopped" && !(isRead && hasTeammates())) return undefined;
  // Without a terminal, a second signal must not leave teammates running.
  if (io.terminal.stdin) io.endOnCtrlC();
  return `press Ctrl-C ${end === "stopped" ? "again " : ""}to exit now`;
}

/** Describes the end of a teammate: `ada: shut down`. */
function endText({ name, outcome, left }: StopReport | KillReport): string {
  const survivors = left.length === 0 ? "" : `; these processes could not be ended: ${left.join(", ")}`;
  return `${name}: ${outcome.replaceAll("-", " ")}${survivors}`;
}

/** Ends the team for good. */
async function endTeam(lead: Lead, { end, finalText }: Ended): Promise<RunOutcome> {
  const { plan, ctx, view } = lead;
  const { team } = ctx.ref;
  const timeoutMs = end === "stopped" ? STOP_TIMEOUT : END_TIMEOUT;
  const offer = offerExit(lead, end);
  if (offer !== undefined)
    view.note(`ending the team within ${timeoutMs / 1000} s; ${offer}, then clean up with teams kill`);
  const keep = plan.keep && lead.exit !== "delete";
  const reports = await endRun(ctx, { timeoutMs, keep, problem: (text) => view.error(text) }).catch(
    (error: unknown) => {
      throw teamExists(ctx.ref) ? withContinuation(error, team) : error;
    },
  );
  if (end !== "stopped" && reports.length > 0)
    view.note("the lead did not shut its teammates down, so the run has ended them:");
  for (const report of reports) view.note(endText(report));
  if (plan.resumes?.wasByHand && teamExists(ctx.ref)) await restoreManualLead(ctx.ref);
  const worktrees = reports.flatMap(({ worktree }) => worktree ?? []);
  for (const line of keptLines(worktrees)) view.note(line);
  const recordingError = saveRecording(lead);
  const over = `the run is over; the team ${team} was ${teamExists(ctx.ref) ? "kept" : "deleted"}`;
  view.end(isRead(lead, end) ? "" : finalText, epilogueOf(lead, over));
  return { keptWorktrees: worktrees.filter(({ kept }) => kept !== null), recordingError };
}

/** Whether the lead's pane need not show its final text again: the person who ended the conversation has read it. */
function isRead({ exit, plan }: Lead, end: WorkerEnd): boolean {
  return end === "stopped" || (exit !== undefined && !plan.once);
}

/** Returns a text only for a terminal, where the next prompt is the shell's again. */
function epilogueOf({ call }: Lead, text: string): string {
  return call.io.terminal.stdout ? text : "";
}

/**
 * Writes the recording; call when all its agents have ended. A failure leaves the run's result as it is.
 * @returns why it could not be written
 */
function saveRecording({ plan: { record, env }, view }: Pick<Lead, "plan" | "view">): string | undefined {
  const directory = env[RECORDING_VARIABLE];
  if (record === undefined || directory === undefined) return undefined;
  try {
    const { agents } = writeRecording(directory, record);
    const turns = Object.values(agents).flat().length;
    view.note(
      `recorded: ${record} (${turns} turns); replay it with teams run --playbook ${shellWord(record)}`,
    );
    return undefined;
  } catch (error) {
    const { message, hint = "" } = failureOf(error);
    const why = `The recording was not written: ${message} ${hint}`.trimEnd();
    view.error(why);
    return why;
  }
}

/**
 * Prints a run's result.
 * @returns its exit status
 * @throws TeamError MODEL_ERROR if the lead's last turn failed, TEAM_NOT_FOUND if its team was deleted before it wrote a text
 */
export function printResult(
  lead: Lead,
  finished: RunOutcome & Omit<Ended, "finalText" | "spent">,
  worker: Worker,
): number {
  const { call, ctx, plan } = lead;
  const { end, fate, keptWorktrees: worktrees, recordingError, summary } = finished;
  const { team } = ctx.ref;
  const state = teamState(lead, fate);
  requireResult(team, { end, fate, state }, worker);
  const outcome = end === "stopped" ? "interrupted" : "completed";
  if (outcome === "completed") plan.check?.();
  const tasks = reportedTasks(ctx);
  const result: RunResult = {
    team,
    outcome,
    result: worker.lastText,
    ...summary,
    ...(worktrees.length === 0 ? {} : { worktrees }),
    ...(tasks.length === 0 ? {} : { tasks }),
    ...(fate === "ended" ? {} : { resume: resumeCommand(team) }),
  };
  if (outcome === "completed" && worker.lastText.trim() === "")
    call.out.note("The lead ended without a final text.");
  // In all other cases, the lead's pane has already shown its final text. The screen of a CLI may be gone.
  const isUnseen = call.options.quiet || plan.cli?.ownScreen === true;
  const text = isUnseen ? [stripControls(worker.lastText)] : [];
  printWithSummary(call, result, {
    text: () => [...text, ...taskReport(ctx, call.out)],
    summary,
    again: state.length > 0 || summary === undefined ? [] : readAgainLine(ctx.home, summary),
    next: state,
  });
  reportToSession(call.io.env, { kind: "ended", result });
  if (recordingError !== undefined) {
    if (hidesLeadOutput(call)) call.io.err(`teams: ${stripControls(recordingError)}\n`);
    if (outcome === "completed") return EXIT.failed;
  }
  return outcome === "interrupted" ? EXIT.interrupted : EXIT.done;
}

/** Returns the last line about the team; none if it was deleted. */
function teamState({ ctx, plan }: Lead, fate: TeamFate): string[] {
  const { team } = ctx.ref;
  if (fate !== "ended") return [continueText(team)];
  return plan.keep && teamExists(ctx.ref)
    ? [`The team is kept. To see it: teams status ${optionWords("--team", team)}`]
    : [];
}

/** @throws TeamError if the run has no result */
function requireResult(
  team: string,
  { end, fate, state }: Omit<Ended, "finalText" | "spent"> & { readonly state: readonly string[] },
  { lastFailure, lastText }: Worker,
): void {
  if (end !== "stopped" && lastFailure !== undefined) {
    const left = fate === "left" ? ["The team is left as it is."] : [];
    const rest = state.length > 0 ? state : ["The team was ended and deleted."];
    throw new TeamError("MODEL_ERROR", `The lead's model failed: ${lastFailure}`, {
      hint: [...left, ...rest].join(" "),
    });
  }
  if (end === "team-gone" && lastText === "") {
    throw new TeamError("TEAM_NOT_FOUND", `${team} was deleted before its lead wrote a result.`, {
      hint: "Another teams delete or teams kill has removed it. Start it again: teams run",
    });
  }
}
