import { messageOf } from "../../errors.ts";
import { endRun } from "../../operations/run/end-run.ts";
import { teamLedHere } from "../../operations/run/led-here.ts";
import { stopRun } from "../../operations/run/stop-run.ts";
import { releaseLead, restoreManualLead } from "../../operations/run/take-over-lead.ts";
import { teamExists } from "../../team/config/config.ts";
import { tryRemoveSessionEnv } from "../../team/records/session-env.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { Worker } from "../../worker/worker.ts";
import { leaveAfterError } from "../lead/finish-run.ts";
import type { Lead, LeadClient, LeadPlan } from "../lead/lead.ts";
import { leadWorker } from "../lead/lead-worker.ts";
import { openRun, removeTeamOnFailure } from "../lead/open-lead.ts";
import { restartMembers } from "../lead/resume-run.ts";
import { HANGUP, isUntouched } from "../lead/team-fate.ts";
import { watchTeam } from "../lead/watch-team.ts";

/** The lead of a session, which runs in this process. */
export interface SessionLead {
  readonly lead: Lead;
  readonly worker: Worker;
  /** Resolves when the lead has ended and its team is settled, with the reason if it ended on its own. Never rejects. */
  readonly ended: Promise<string | undefined>;
}

/**
 * Creates or resumes the team of a session, and starts its lead as a run does.
 * @param opened called before the lead and its teammates start
 * @param signal ends the lead: the team is kept, and its teammates end, unless the signal is a hangup
 */
export async function startSessionLead(
  call: AnyCall,
  plan: LeadPlan,
  client: LeadClient,
  { opened, signal }: { readonly opened: (lead: Lead) => void; readonly signal: AbortSignal },
): Promise<SessionLead> {
  const lead = await openRun(call, plan, client);
  const { worker, status } = await removeTeamOnFailure(lead, () => leadWorker(lead, signal));
  opened(lead);
  const watch = watchTeam(lead, worker, status);
  lead.teamMoved = () => watch.restart();
  const close = async (): Promise<void> => {
    // Its failure must not decide what happens to the team.
    for (const stop of [watch.end, ...lead.ends])
      await stop().catch((error: unknown) => lead.view.error(messageOf(error)));
  };
  try {
    // No turn without a prompt: the lead reads about its team with the first one.
    if (plan.resumes !== undefined) worker.clientInput.addToNext(await restartMembers(lead));
  } catch (error) {
    await close();
    throw await leaveAfterError(lead, error);
  }
  return { lead, worker, ended: runLead(lead, worker, { close, signal }) };
}

async function runLead(
  lead: Lead,
  worker: Worker,
  { close, signal }: { readonly close: () => Promise<void>; readonly signal: AbortSignal },
): Promise<string | undefined> {
  try {
    const end = await worker.run().finally(close);
    await settle(lead, signal);
    return end === "stopped" ? undefined : "its team was deleted or given to another process";
  } catch (error) {
    return messageOf(await leaveAfterError(lead, error));
  } finally {
    if (!teamExists(lead.ctx.ref))
      tryRemoveSessionEnv(lead.ctx.home, lead.sessionId, (text) => lead.view.note(text));
  }
}

/** Leaves, deletes or stops the team at the end of its session. A stopped team is kept, so that the session can be loaded again. */
async function settle(lead: Lead, signal: AbortSignal): Promise<void> {
  const { ctx, plan, inProcess, view } = lead;
  if (teamLedHere(ctx) === undefined) return;
  if (signal.reason === HANGUP) return inProcess.hangUp();
  if (isUntouched(lead)) {
    await endRun(ctx, { timeoutMs: 0, problem: (text) => view.error(text) });
    return;
  }
  for (const { name, left } of await stopRun(ctx))
    if (left.length > 0) view.error(`${name}: still there: ${left.join(", ")}`);
  await (plan.resumes?.wasByHand ? restoreManualLead : releaseLead)(ctx.ref);
}
