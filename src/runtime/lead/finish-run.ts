import { EXIT, TeamError } from "../../errors.ts";
import { endRun } from "../../operations/run/end-run.ts";
import { restoreManualLead } from "../../operations/run/take-over-lead.ts";
import type { WorktreeEnd } from "../../operations/worktrees/remove-worktree.ts";
import { teamExists } from "../../team/config/config.ts";
import { failureOf } from "../../terminal/report-error.ts";
import { keptLines } from "../../terminal/worktree-text.ts";
import { operand, optionWords, shellWord } from "../../text/shell-quote.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { WorkerEnd } from "../../worker/lifecycle.ts";
import type { Worker } from "../../worker/worker.ts";
import { RECORDING_VARIABLE, writeRecording } from "../agent/recording.ts";
import { hidesLeadOutput, type Lead, type LeadPlan } from "./lead.ts";
import { type RunResult, reportToSession } from "./run-result.ts";

/** Milliseconds for teammates to agree to a shutdown at the end of a run, before they get signals. */
const END_TIMEOUT = 10_000;
/** The same after a Ctrl-C, when a person waits for it. */
const STOP_TIMEOUT = 5_000;

/** Leaves the team running when its lead ends unintentionally (a lost terminal, a failure), as if the lead was killed (S43, S51). */
export async function detach({ ctx, view, inProcess }: Lead, why: string): Promise<void> {
  await inProcess.hangUp();
  view.note(`${why}; the team is left as it is: teams resume ${operand(ctx.ref.team)}`);
  view.end("");
}

/** The end of a run, as far as its result reports it. */
export interface RunOutcome {
  /** Worktrees that were not removed. */
  readonly keptWorktrees: readonly WorktreeEnd[];
  /** Why the requested recording could not be written; undefined if it was, or none was requested. */
  readonly recordingError?: string | undefined;
}

export async function finishRun(
  { call, plan, ctx, view }: Lead,
  end: WorkerEnd,
  finalText: string,
): Promise<RunOutcome> {
  const timeoutMs = end === "stopped" ? STOP_TIMEOUT : END_TIMEOUT;
  if (end === "stopped")
    view.note(
      `ending the team, within ${timeoutMs / 1000} s; press Ctrl-C again to exit now, then clean up with teams kill`,
    );
  const reports = await endRun(ctx, { timeoutMs, keep: plan.keep });
  if (end !== "stopped" && reports.length > 0)
    view.note("the lead did not shut its teammates down, so the run has ended them:");
  for (const { name, outcome, left } of reports) {
    view.note(`${name}: ${outcome}${left.length === 0 ? "" : `, still there: ${left.join(", ")}`}`);
  }
  if (plan.resumes?.wasByHand && teamExists(ctx.ref)) await restoreManualLead(ctx.ref);
  const worktrees = reports.flatMap(({ worktree }) => worktree ?? []);
  for (const line of keptLines(worktrees)) view.note(line);
  const recordingError = saveRecording({ plan, view });
  const epilogue = call.io.terminal.stdout ? runOverText(ctx.ref.team, teamExists(ctx.ref)) : "";
  view.end(end === "stopped" ? "" : finalText, epilogue);
  return { keptWorktrees: worktrees.filter(({ kept }) => kept !== null), recordingError };
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
  { call, ctx, plan }: Lead,
  { end, keptWorktrees: worktrees, recordingError }: RunOutcome & { readonly end: WorkerEnd },
  worker: Worker,
): number {
  const { team } = ctx.ref;
  if (end !== "stopped" && worker.lastFailure !== undefined) {
    const hint = teamStateHint(plan, team);
    throw new TeamError("MODEL_ERROR", `The lead's model failed: ${worker.lastFailure}`, { hint });
  }
  if (end === "team-gone" && worker.lastText === "") {
    throw new TeamError("TEAM_NOT_FOUND", `${team} was deleted before its lead wrote a result.`, {
      hint: "Another teams delete or teams kill has removed it. Start it again: teams run",
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
  const kept = plan.keep && teamExists(ctx.ref) ? [teamKeptText(team)] : [];
  if (outcome === "completed" && worker.lastText.trim() === "")
    call.out.note("The lead ended without a final text.");
  // Without --quiet, the lead's pane has shown its final text already.
  const text = call.options.quiet ? [stripControls(worker.lastText)] : [];
  call.out.answer(result, () => [...text, ...kept].join("\n"));
  reportToSession(call.io.env, { kind: "ended", result });
  if (recordingError !== undefined) {
    if (hidesLeadOutput(call)) call.io.err(`teams: ${stripControls(recordingError)}\n`);
    if (outcome === "completed") return EXIT.failed;
  }
  return outcome === "interrupted" ? EXIT.interrupted : EXIT.done;
}

function teamKeptText(team: string): string {
  return `The team is kept. See it: teams status ${optionWords("--team", team)}`;
}

/** For a terminal: the prompt below it is the shell's again. */
function runOverText(team: string, kept: boolean): string {
  return `the run is over; the team ${team} was ${kept ? "kept" : "deleted"}`;
}

function teamStateHint({ keep, resumes }: LeadPlan, team: string): string {
  if (resumes !== undefined)
    return `The team is left as it is. Resume it: teams run --resume ${optionWords("--team", team)}`;
  return keep ? teamKeptText(team) : "The team was ended and deleted.";
}
