import { messageOf } from "../../errors.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { WorkerEnd } from "../../worker/lifecycle.ts";
import { closeSidebar, openSidebar } from "../sidebar-pane.ts";
import { detach, finishRun, printResult, type RunOutcome } from "./finish-run.ts";
import { readKeys } from "./keyboard.ts";
import type { Lead, LeadPlan } from "./lead.ts";
import { leadWorker } from "./lead-worker.ts";
import { openRun, removeTeamOnFailure } from "./open-lead.ts";
import { restartMembers } from "./resume-run.ts";
import { reportToSession } from "./run-result.ts";
import { watchTeam } from "./watch-team.ts";

/** The signal of a terminal that has gone: a closed pane, a lost connection, the end of its tmux server. */
const HANGUP = "SIGHUP";

/** Leads a team in this process until its goal is reached, prints the result, and leaves nothing behind. */
export async function runLead(call: AnyCall, plan: LeadPlan): Promise<number> {
  const { io } = call;
  const signal = io.interruption();
  const lead = await openRun(call, plan);
  const { worker, status } = await removeTeamOnFailure(lead, () => leadWorker(lead, signal));
  reportToSession(io.env, { kind: "started", process: ownIdentity() });
  // That of a lead that was killed may still stand there.
  let sidebar = await tryOpenSidebar(lead, { again: plan.takesUp !== undefined });
  let end: WorkerEnd = "stopped";
  let finished: RunOutcome = { kept: [] };
  const stopReading = readKeys(lead, worker, signal);
  const watch = watchTeam(lead, worker, status);
  lead.teamMade = async () => {
    await watch.again();
    // One that has seen its team go may be about to close.
    if (sidebar) sidebar = await tryOpenSidebar(lead, { again: true });
  };
  try {
    if (plan.takesUp !== undefined) worker.notifyAgent(await restartMembers(lead));
    if (plan.goal !== "") await worker.handleTypedLine(plan.goal);
    else if (plan.takesUp === undefined) lead.view.note("what is to be done? Type it and press Enter");
    end = await worker.run();
  } finally {
    stopReading();
    await watch.end();
    for (const stop of lead.ends) await stop();
    if (signal.reason === HANGUP) await detach(lead, "the terminal is gone");
    else if (couldNotLead(lead, { end, signal, failure: worker.lastFailure }))
      await detach(lead, "it could not be led any further");
    else finished = await finishRun(lead, end, worker.lastText);
    if (sidebar && signal.reason !== HANGUP) await closeOwnSidebar(lead);
  }
  return printResult(lead, { end, ...finished }, worker);
}

/** A team that was there before is nobody's to end for want of a lead. */
function couldNotLead(
  { plan }: Lead,
  how: { readonly end: WorkerEnd; readonly signal: AbortSignal; readonly failure: string | undefined },
): boolean {
  if (plan.takesUp === undefined || how.signal.aborted) return false;
  return how.end === "stopped" || how.failure !== undefined;
}

/** @param again one may stand there, which gives way */
async function tryOpenSidebar(lead: Lead, { again }: { readonly again: boolean }): Promise<boolean> {
  const { call, plan, ctx, view } = lead;
  if (!plan.sidebar || ctx.callerPane === undefined || call.out.json) return false;
  try {
    if (again) await closeOwnSidebar(lead);
    await openSidebar(call.io, ctx.ref, ctx.callerPane);
    return true;
  } catch (error) {
    // A narrow pane has no room for it; the team works without.
    view.note(`no sidebar: ${messageOf(error)}`);
    return false;
  }
}

async function closeOwnSidebar({ call, ctx }: Lead): Promise<void> {
  if (ctx.callerPane !== undefined) await closeSidebar(call.io, ctx.ref, ctx.callerPane);
}
