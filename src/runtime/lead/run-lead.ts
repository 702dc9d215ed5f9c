import { leaveOwnSession } from "../../backend/tmux/leave-session.ts";
import { messageOf } from "../../errors.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { WorkerEnd } from "../../worker/lifecycle.ts";
import type { Worker } from "../../worker/worker.ts";
import { closeSidebar, openSidebar } from "../sidebar-pane.ts";
import { leaveAfterError, printResult, settleTeam } from "./finish-run.ts";
import { readKeys } from "./keyboard.ts";
import type { Lead, LeadPlan } from "./lead.ts";
import { leadWorker } from "./lead-worker.ts";
import { openRun, removeTeamOnFailure } from "./open-lead.ts";
import { restartMembers } from "./resume-run.ts";
import { isInSession, reportToSession } from "./run-result.ts";
import { fateOf, HANGUP } from "./team-fate.ts";
import { watchTeam } from "./watch-team.ts";

/** Leads a team in this process until its goal is reached, prints the result and cleans up. */
export async function runLead(call: AnyCall, plan: LeadPlan): Promise<number> {
  const { io } = call;
  const signal = io.interruption();
  const lead = await openRun(call, plan);
  const { worker, status } = await removeTeamOnFailure(lead, () => leadWorker(lead, signal));
  reportToSession(io.env, { kind: "started", process: ownIdentity() });
  // A killed lead may have left its sidebar open.
  let sidebar = await tryOpenSidebar(lead, { replace: plan.resumes !== undefined });
  const stopReading = readKeys(lead, worker, signal);
  const watch = watchTeam(lead, worker, status);
  lead.teamMade = async () => {
    await watch.restart();
    // The old sidebar has seen its team deleted, and may be about to close.
    if (sidebar) sidebar = await tryOpenSidebar(lead, { replace: true });
  };
  const close = async (): Promise<void> => {
    stopReading();
    for (const stop of [watch.end, ...lead.ends]) {
      // Its failure must not decide what happens to the team.
      await stop().catch((error: unknown) => lead.view.error(messageOf(error)));
    }
  };
  let code: number;
  try {
    const end = await leadTeam(lead, worker).finally(close);
    const fate = fateOf(lead, worker, end, signal);
    const finished = await settleTeam(lead, { end, fate, finalText: worker.lastText });
    code = printResult(lead, { end, fate, ...finished }, worker);
  } finally {
    if (sidebar && signal.reason !== HANGUP) await closeOwnSidebar(lead);
  }
  // The session closes with this process.
  if (isInSession(io.env) && signal.reason !== HANGUP) await leaveOwnSession(io.env);
  return code;
}

/** Leads the team until the worker ends. @throws the error that ended it, after the team was left as it is */
async function leadTeam(lead: Lead, worker: Worker): Promise<WorkerEnd> {
  const { plan, view } = lead;
  try {
    if (plan.resumes !== undefined) worker.notifyAgent(await restartMembers(lead));
    if (plan.goal !== "") await worker.handleTypedLine(plan.goal);
    else if (plan.resumes === undefined) view.note("type a goal for the team and press Enter");
    return await worker.run();
  } catch (error) {
    throw await leaveAfterError(lead, error);
  }
}

/** @param replace closes an open sidebar first */
async function tryOpenSidebar(lead: Lead, { replace }: { readonly replace: boolean }): Promise<boolean> {
  const { call, plan, ctx, view } = lead;
  if (!plan.sidebar || ctx.callerPane === undefined || call.out.json) return false;
  try {
    if (replace) await closeOwnSidebar(lead);
    await openSidebar(call.io, ctx.ref, ctx.callerPane);
    return true;
  } catch (error) {
    // For example, the pane is too narrow. The team works without it.
    view.note(`no sidebar: ${messageOf(error)}`);
    return false;
  }
}

async function closeOwnSidebar({ call, ctx }: Lead): Promise<void> {
  if (ctx.callerPane !== undefined) await closeSidebar(call.io, ctx.ref, ctx.callerPane);
}
