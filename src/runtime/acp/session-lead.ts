import { messageOf, TeamError } from "../../errors.ts";
import { endRun } from "../../operations/run/end-run.ts";
import { teamLedHere } from "../../operations/run/led-here.ts";
import { stopRun } from "../../operations/run/stop-run.ts";
import { releaseLead, restoreManualLead } from "../../operations/run/take-over-lead.ts";
import { teamExists } from "../../team/config/config.ts";
import { setKnownEmpty } from "../../team/records/empty-sessions.ts";
import { tryRemoveSessionEnv } from "../../team/records/session-env.ts";
import { type TeamRef, teamRef, teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { Worker } from "../../worker/worker.ts";
import { forgetEventFailures } from "../event-failures.ts";
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

interface StartOptions {
  /** Ends the lead: the team is kept, and its teammates end, unless the signal is a hangup. */
  readonly signal: AbortSignal;
  /** Called before the lead and its teammates start. */
  opened(lead: Lead): Promise<void>;
  /** Called when the lead has recreated or renamed its team. */
  moved(): Promise<void>;
}

/**
 * Creates or resumes the team of a session, and starts its lead as a run does.
 * @throws TeamError as a run does; a new team is removed then, and a resumed one has no lead, as before
 */
export async function startSessionLead(
  call: AnyCall,
  plan: LeadPlan,
  client: LeadClient,
  options: StartOptions,
): Promise<SessionLead> {
  let lead: Lead | undefined;
  try {
    lead = await openRun(call, plan, client);
    return await start(lead, options);
  } catch (error) {
    if (lead !== undefined) forgetEventFailures(lead.ctx.ref);
    const isLedByAnother = error instanceof TeamError && error.code === "ALREADY_LEADING";
    if (plan.resumes !== undefined && !isLedByAnother)
      await release(teamRef(teamsHome(call.io.env), plan.team), plan).catch(() => undefined);
    throw error;
  }
}

async function start(lead: Lead, { opened, moved, signal }: StartOptions): Promise<SessionLead> {
  const { worker, status } = await removeTeamOnFailure(lead, async () => {
    await opened(lead);
    return leadWorker(lead, signal);
  });
  const watch = watchTeam(lead, worker, status);
  lead.teamMoved = async () => {
    await watch.restart();
    await moved();
  };
  const close = async (): Promise<void> => {
    // A failure here must not decide what happens to the team.
    for (const stop of [watch.end, ...lead.ends])
      await stop().catch((error: unknown) => lead.view.error(messageOf(error)));
  };
  try {
    // No turn without a prompt: the summary of the team comes with the first prompt.
    if (lead.plan.resumes !== undefined) worker.clientInput.addToNext(await restartMembers(lead));
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
  const { ctx, plan, view, sessionId } = lead;
  try {
    const end = await worker.run().finally(close);
    await settle(lead, signal);
    return end === "stopped" ? undefined : "its team was deleted or given to another process";
  } catch (error) {
    return messageOf(await leaveAfterError(lead, error));
  } finally {
    if (signal.reason !== HANGUP)
      await release(ctx.ref, plan).catch((error: unknown) => view.error(messageOf(error)));
    forgetEventFailures(ctx.ref);
    if (!teamExists(ctx.ref)) tryRemoveSessionEnv(ctx.home, sessionId, (text) => view.note(text));
  }
}

/** Leaves, deletes or stops the team at the end of its session. A stopped team is kept, so that the session can be loaded again. */
async function settle(lead: Lead, signal: AbortSignal): Promise<void> {
  const { ctx, inProcess, view } = lead;
  if (teamLedHere(ctx) === undefined) return;
  if (signal.reason === HANGUP) return inProcess.hangUp();
  if (isUntouched(lead)) {
    // Before the end: a client may keep the session's id, and load it later.
    await setKnownEmpty(ctx.home, ctx.ref.team, true);
    await endRun(ctx, { timeoutMs: 0, problem: (text) => view.error(text) });
    return;
  }
  for (const { name, left } of await stopRun(ctx))
    if (left.length > 0)
      view.error(`${name} was stopped, but these processes could not be ended: ${left.join(", ")}`);
}

/** Releases the lead of a team, so that it can be resumed while this process continues. Does nothing if another process leads it. */
async function release(ref: TeamRef, { resumes }: LeadPlan): Promise<void> {
  if (!teamExists(ref)) return;
  await (resumes?.wasByHand ? restoreManualLead : releaseLead)(ref);
}
