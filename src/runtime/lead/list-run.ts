import { messageOf } from "../../errors.ts";
import { recordEndedTeam } from "../../team/records/ended-teams.ts";
import { line } from "../../terminal/output.ts";
import type { WorkerEnd } from "../../worker/lifecycle.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Lead } from "./lead.ts";
import type { RunSummary } from "./run-summary.ts";

/** Adds an ended run to the index of `teams ls --ended`. Never rejects: the run's result is more important. */
export async function listRun(
  { ctx, call, recorder }: Pick<Lead, "ctx" | "call" | "recorder">,
  { durationMs, tokens, costUsd }: RunSummary,
  end: WorkerEnd,
  { lastText, lastFailure }: Pick<Worker, "lastText" | "lastFailure">,
): Promise<void> {
  const { team } = recorder;
  // Without a conversation or a result, there is nothing to read again.
  if (team.sessions.length === 0 && lastText === "") return;
  const outcome = end === "stopped" ? "interrupted" : lastFailure === undefined ? "completed" : "failed";
  const result = lastText === "" ? (lastFailure ?? "") : lastText;
  try {
    const run = { outcome, result, durationMs, tokens, costUsd };
    await recordEndedTeam(ctx.home, { ...team, endedAt: ctx.clock.now(), run });
  } catch (error) {
    call.out.note(line`teams ls --ended will not list this run: ${messageOf(error)}`);
  }
}
