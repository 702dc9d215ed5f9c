import { leaveOwnSession } from "../../backend/tmux/leave-session.ts";
import { callersServer } from "../../backend/tmux/server-for.ts";
import { renameTeamSession } from "../../backend/tmux/team-session.ts";
import { messageOf, TeamError } from "../../errors.ts";
import { pause, steadyNow } from "../../os/clock.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import { rootTag } from "../../protocol/paths.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { tryRemoveSessionEnv } from "../../team/records/session-env.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line } from "../../terminal/output.ts";
import { optionWords } from "../../text/shell-quote.ts";
import type { WorkerEnd } from "../../worker/lifecycle.ts";
import type { Worker } from "../../worker/worker.ts";
import { closeSidebar, openSidebar } from "../sidebar-pane.ts";
import { leaveAfterError, printResult, settleTeam } from "./finish-run.ts";
import { readKeys } from "./keyboard.ts";
import type { Lead, LeadPlan } from "./lead.ts";
import { leadWorker } from "./lead-worker.ts";
import { listRun } from "./list-run.ts";
import { openRun, removeTeamOnFailure } from "./open-lead.ts";
import { restartMembers } from "./resume-run.ts";
import { isInSession, reportToSession } from "./run-result.ts";
import { fateOf, HANGUP } from "./team-fate.ts";
import { watchTeam } from "./watch-team.ts";

/** Minimum columns of the lead's pane next to its sidebar, which `run` opens in 100 columns or more (product.md). */
const LEAD_WIDTH = 65;
/** Shown in a narrower terminal, in as few rows as possible: that terminal may have few rows, too. */
const NARROW_NOTE = "no sidebar below 100 columns; in another window: teams sidebar";
/** Milliseconds to wait for the terminal's new size, and between two checks. */
const RESIZE_MS = 1_000;
const RESIZE_POLL_MS = 5;

/** Leads a team in this process until its goal is reached, prints the result and cleans up. */
export async function runLead(call: AnyCall, plan: LeadPlan): Promise<number> {
  const { io } = call;
  // Ctrl-C belongs to a CLI that has the terminal.
  const hasTerminal = plan.cli?.ownScreen !== true;
  const signal = io.interruption(hasTerminal ? "own" : "foreign");
  const lead = await openRun(call, plan);
  const { worker, status } = await removeTeamOnFailure(lead, () => leadWorker(lead, signal));
  reportToSession(io.env, { kind: "started", process: ownIdentity() });
  const endRecording = await recordLead(lead);
  // A killed lead may have left its sidebar open.
  const { problem, ...opened } = await tryOpenSidebar(lead, {
    replace: plan.resumes === undefined ? undefined : lead.ctx.ref,
  });
  let sidebar = opened.open;
  await waitForResize(call, opened.width);
  lead.showHeader();
  if (plan.resumes !== undefined && (lead.region ?? lead.screen) !== undefined) {
    const { showRecent } = await import("../pane/recent-conversation.ts");
    showRecent(lead.view, lead.ctx.ref, LEAD_NAME);
  }
  if (problem !== undefined) lead.view.note(problem);
  const stopReading = hasTerminal
    ? readKeys(lead, worker, { signal, followMode: () => watch.followMode() })
    : () => undefined;
  const watch = watchTeam(lead, worker, status);
  lead.teamMoved = async (before) => {
    await watch.restart();
    if (before.team !== lead.ctx.ref.team) await applyRename(lead, before);
    // The old sidebar has seen its team deleted, and may be about to close.
    if (!sidebar) return;
    const again = await tryOpenSidebar(lead, { replace: before });
    sidebar = again.open;
    if (again.problem !== undefined) lead.view.note(again.problem);
  };
  const close = async (): Promise<void> => {
    stopReading();
    // The CLI that owned Ctrl-C has ended. A user at the lead's prompt reads a note first, since a Ctrl-C may be meant for a typed line.
    if (io.terminal.stdin && !hasTerminal) io.endOnCtrlC();
    for (const stop of [watch.end, ...lead.ends]) {
      // A failure here must not decide what happens to the team.
      await stop().catch((error: unknown) => lead.view.error(messageOf(error)));
    }
  };
  let code: number;
  try {
    const end = await leadTeam(lead, worker).finally(close);
    const fate = fateOf(lead, worker, end, signal);
    // Without the lead's pane, the final text is part of the result.
    const finalText = hasTerminal ? worker.lastText : "";
    const finished = await settleTeam(lead, { end, fate, finalText, spent: status.spent });
    if (finished.summary !== undefined) await listRun(lead, finished.summary, end, worker);
    code = printResult(lead, { end, fate, ...finished }, worker);
  } finally {
    removeVariablesOf(lead);
    if (sidebar && signal.reason !== HANGUP) await closeOwnSidebar(lead);
    endRecording();
  }
  // The session closes with this process.
  if (isInSession(io.env) && signal.reason !== HANGUP) await leaveOwnSession(io.env);
  return code;
}

/** Removes the variables that the lead's hooks have set, unless its team is kept: `deleteTeam` leaves them to a running lead. */
function removeVariablesOf({ call: { out }, ctx: { home, ref }, sessionId }: Lead): void {
  if (!teamExists(ref)) tryRemoveSessionEnv(home, sessionId, (text) => out.note(line`${text}`));
}

/**
 * Records the lead's screen if its team is recorded.
 * @returns a function that ends the recording; call it after the last output
 */
async function recordLead({ call: { io, out }, ctx: { ref }, view }: Lead): Promise<() => void> {
  const directory = readMetadata(readTeam(ref), "recording");
  if (directory === undefined) return () => undefined;
  const { recordScreen } = await import("../screen-recording.ts");
  const problem = (text: string): void => view.note(text);
  const end = await recordScreen({ io, ref, name: LEAD_NAME, directory, problem });
  return () => {
    if (end === undefined) return;
    out.note(line`To see it again: teams replay ${LEAD_NAME} ${optionWords("--team", ref.team)}`);
    end();
  };
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

/** Tells the user the new name of the team, and renames the lead's tmux session. */
async function applyRename({ call: { io }, ctx, view, notePlacement }: Lead, before: TeamRef): Promise<void> {
  const { ref, callerPane: pane, callerServer: serverPid } = ctx;
  const isKept = readMetadata(readTeam(ref), "formerNames")?.includes(before.team);
  view.note(
    `the team is now called ${ref.team}${isKept ? `; its former name ${before.team} still works` : ""}`,
  );
  notePlacement();
  if (pane === undefined) return;
  const names = { rootTag: rootTag(ref.home.root), from: before.team, to: ref.team };
  try {
    await renameTeamSession(callersServer(io.env), { pane, serverPid, ...names });
  } catch (error) {
    // The only effect: later teammates then get a separate session.
    view.note(`the tmux session keeps the name of ${before.team}: ${messageOf(error)}`);
  }
}

/** @param replace the team whose open sidebar is closed first */
async function tryOpenSidebar(
  lead: Lead,
  { replace }: { readonly replace: TeamRef | undefined },
): Promise<{ readonly open: boolean; readonly width?: number | undefined; readonly problem?: string }> {
  const { call, plan, ctx } = lead;
  if (!plan.sidebar || ctx.callerPane === undefined || call.out.json) return { open: false };
  try {
    if (replace !== undefined) await closeOwnSidebar(lead, replace);
    const { neighbourWidth } = await openSidebar(call.io, ctx.ref, ctx.callerPane, LEAD_WIDTH);
    return { open: true, width: neighbourWidth };
  } catch (error) {
    // The team works without it.
    const isNarrow = error instanceof TeamError && error.details?.kind === "narrow";
    return { open: false, problem: isNarrow ? NARROW_NOTE : `no sidebar: ${messageOf(error)}` };
  }
}

/**
 * Waits until this terminal has the width that the sidebar leaves, so that the first output is wrapped to it. A zoomed pane keeps its
 * width.
 */
async function waitForResize({ io }: AnyCall, width: number | undefined): Promise<void> {
  if (width === undefined || io.columns === undefined) return;
  const deadline = steadyNow() + RESIZE_MS;
  while (io.columns !== width && steadyNow() < deadline) await pause(RESIZE_POLL_MS);
}

async function closeOwnSidebar({ call, ctx }: Lead, ref: TeamRef = ctx.ref): Promise<void> {
  if (ctx.callerPane !== undefined) await closeSidebar(call.io, ref, ctx.callerPane);
}
