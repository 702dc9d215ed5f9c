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
import { RECORDING, writeRecording } from "../agent/recording.ts";
import { hidesLeadOutput, type Lead, type LeadPlan } from "./lead.ts";
import { type RunResult, reportToSession } from "./run-result.ts";

/** Milliseconds that teammates have to agree at the end of a run, before signals; less where somebody waits at a Ctrl-C. */
const END_TIMEOUT = 10_000;
const STOP_TIMEOUT = 5_000;

/** Where nobody wishes to end anything, as with a terminal that was lost, the team goes on as without a lead that was killed (S43, S51). */
export async function detach({ ctx, view, inside }: Lead, why: string): Promise<void> {
  await inside.hangUp();
  view.note(`${why}; the team is left as it is: teams resume ${operand(ctx.ref.team)}`);
  view.end("");
}

/** What a run's end leaves to say. */
export interface RunOutcome {
  /** Worktrees that stay. */
  readonly kept: readonly WorktreeEnd[];
  /** Why the recording that was asked for could not be written. */
  readonly unrecorded?: string | undefined;
}

export async function finishRun(
  { call, plan, ctx, view }: Lead,
  end: WorkerEnd,
  lastWords: string,
): Promise<RunOutcome> {
  const timeoutMs = end === "stopped" ? STOP_TIMEOUT : END_TIMEOUT;
  if (end === "stopped")
    view.note(`ending the team, within ${timeoutMs / 1000} s; Ctrl-C once more leaves it to teams kill`);
  const reports = await endRun(ctx, { timeoutMs, keep: plan.keep });
  if (end !== "stopped" && reports.length > 0)
    view.note("its lead left the team to this run, which has ended it:");
  for (const { name, outcome, left } of reports) {
    view.note(`${name}: ${outcome}${left.length === 0 ? "" : `, still there: ${left.join(", ")}`}`);
  }
  if (plan.takesUp?.wasByHand && teamExists(ctx.ref)) await restoreManualLead(ctx.ref);
  const worktrees = reports.flatMap(({ worktree }) => worktree ?? []);
  for (const line of keptLines(worktrees)) view.note(line);
  const unrecorded = saveRecording({ plan, view });
  const epilogue = call.io.terminal.stdout ? overText(ctx.ref.team, teamExists(ctx.ref)) : "";
  view.end(end === "stopped" ? "" : lastWords, epilogue);
  return { kept: worktrees.filter(({ kept }) => kept !== null), unrecorded };
}

/**
 * After the end of all who write to it. A run that could not be recorded was a run all the same, with a result.
 * @returns why it could not be
 */
function saveRecording({ plan: { record, env }, view }: Pick<Lead, "plan" | "view">): string | undefined {
  const directory = env[RECORDING];
  if (record === undefined || directory === undefined) return undefined;
  try {
    const { agents } = writeRecording(directory, record);
    const turns = Object.values(agents).flat().length;
    view.note(`recorded: ${record} (${turns} turns); play it with teams run --playbook ${shellWord(record)}`);
    return undefined;
  } catch (error) {
    const { message, hint = "" } = failureOf(error);
    const why = `The run is not recorded: ${message} ${hint}`.trimEnd();
    view.error(why);
    return why;
  }
}

/**
 * Prints a run's result.
 * @returns its exit status
 * @throws TeamError MODEL_ERROR when the lead's last turn failed, TEAM_NOT_FOUND when its team was taken from it
 */
export function printResult(
  { call, ctx, plan }: Lead,
  { end, kept: worktrees, unrecorded }: RunOutcome & { readonly end: WorkerEnd },
  worker: Worker,
): number {
  const { team } = ctx.ref;
  if (end !== "stopped" && worker.lastFailure !== undefined) {
    const left = fateText(plan, team);
    throw new TeamError("MODEL_ERROR", `The lead's model failed: ${worker.lastFailure}`, { hint: left });
  }
  if (end === "team-gone" && worker.lastText === "") {
    throw new TeamError(
      "TEAM_NOT_FOUND",
      `${team} was deleted while its lead worked, which had said nothing yet.`,
      {
        hint: "Whoever deleted it did so by teams delete or teams kill; start it again: teams run",
      },
    );
  }
  const outcome = end === "stopped" ? "interrupted" : "completed";
  if (outcome === "completed") plan.check?.();
  const result: RunResult = {
    team,
    outcome,
    result: worker.lastText,
    ...(worktrees.length === 0 ? {} : { worktrees }),
  };
  const kept = plan.keep && teamExists(ctx.ref) ? [keptText(team)] : [];
  if (outcome === "completed" && worker.lastText.trim() === "")
    call.out.note("The lead said nothing at its end.");
  // Whoever saw the lead at work has read its last words there.
  const text = call.options.quiet ? [stripControls(worker.lastText)] : [];
  call.out.answer(result, () => [...text, ...kept].join("\n"));
  reportToSession(call.io.env, { kind: "ended", result });
  if (unrecorded !== undefined) {
    if (hidesLeadOutput(call)) call.io.err(`teams: ${stripControls(unrecorded)}\n`);
    if (outcome === "completed") return EXIT.failed;
  }
  return outcome === "interrupted" ? EXIT.interrupted : EXIT.done;
}

function keptText(team: string): string {
  return `The team is kept: teams status ${optionWords("--team", team)}`;
}

/** For somebody at the terminal: what is typed next is their shell's. */
function overText(team: string, kept: boolean): string {
  return `the run is over, and the team ${team} ${kept ? "kept" : "deleted"}`;
}

function fateText({ keep, takesUp }: LeadPlan, team: string): string {
  if (takesUp !== undefined)
    return `The team is left as it is: teams run --resume ${optionWords("--team", team)}`;
  return keep ? keptText(team) : "The team was ended; nothing of it is left.";
}
