import type { Agent } from "../../agent/agent.ts";
import { DEFAULT_AGENT_TYPE } from "../../agent/prompts/agent-types.ts";
import type { InProcessBackend } from "../../backend/in-process/in-process-backend.ts";
import { messageOf, TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import {
  areTeammatesWorking,
  isRunOver,
  membersWithQuestions,
  runState,
} from "../../operations/run/run-state.ts";
import { reconcile } from "../../operations/supervision/reconcile.ts";
import { planPath } from "../../protocol/paths.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { bypassForbiddenBy, isPricedBy, worktreeSettings } from "../../settings/settings.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { createStatusKeeper, type StatusKeeper } from "../../worker/status-record.ts";
import { Worker } from "../../worker/worker.ts";
import { openSurroundings } from "../agent/agent-resources.ts";
import { assembleAgent } from "../agent/assemble-agent.ts";
import { openType } from "../agent/load-agent-types.ts";
import { modelsOf } from "../agent/models.ts";
import { ownFacts, ownPane } from "../own-process-record.ts";
import { openWorkerBell } from "../worker-bell.ts";
import { isConversational, type Lead } from "./lead.ts";
import { handleCodeOnlyMessage, notifyUnansweredPlans } from "./permission-requests.ts";

/** The lead as a worker: its model, and when its run is over; and what it says of itself. */
export async function leadWorker(
  lead: Lead,
  signal: AbortSignal,
): Promise<{ readonly worker: Worker; readonly status: StatusKeeper }> {
  const { ctx, view, sessionId } = lead;
  const { ref } = ctx;
  const bell = await openWorkerBell(ref, LEAD_NAME, {
    problem: (error) => view.error(messageOf(error)),
    others: [lead.children],
  });
  const facts = { ...ownFacts(ref, LEAD_NAME, sessionId), ...ownPane(ctx.env) };
  let answerDue = false;
  const sayLeft = notifyUnansweredPlans(lead);
  const atRest = onceAtRest(lead.inside, () => worker.recheck());
  const last = readStatus(ref, LEAD_NAME);
  const status = createStatusKeeper(ref, LEAD_NAME, facts, last, ctx.clock, (state) => {
    if (state === "running") answerDue = false;
  });
  const worker = new Worker({
    ref,
    name: LEAD_NAME,
    role: "lead",
    initialMode: lead.mode,
    modeAfterPlan: lead.mode,
    planFile: planPath(ref.home.root, ref.team, LEAD_NAME),
    transcript: facts.transcript,
    bell,
    status,
    view,
    clock: ctx.clock,
    signal,
    createAgent: (own) => assembleLead(lead, own),
    decideWhenIdle: async (held, interrupted) => {
      sayLeft();
      // Who types the goals says when there are no more.
      if (isConversational(lead)) return "wait";
      await settle(ctx);
      // Whoever ended its turn has more to say, from wherever.
      if (interrupted) return "wait";
      const { stdin: isSomebodyThere } = lead.call.io.terminal;
      // A person who is there is waited for; the answer to the lead is a turn, which may come behind its record.
      const asking = isSomebodyThere ? membersWithQuestions(ctx) : [];
      answerDue ||= asking.includes(LEAD_NAME);
      if (answerDue || asking.length > 0) return "wait";
      const facts = runState(ctx, held);
      if (isSomebodyThere && facts.interrupted > 0) return "wait";
      if (isRunOver(facts)) return "over";
      atRest();
      return "wait";
    },
    isTeamWorking: async (held) => areTeammatesWorking(ctx, held),
    handleCodeOnlyMessage: (entry) => handleCodeOnlyMessage(lead, worker, entry),
  });
  return { worker, status };
}

/** Wakes the lead when the last one that works in its process comes to rest: what that leaves to do is no file's to tell. */
function onceAtRest(inside: InProcessBackend, wake: () => void): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting || inside.areAllIdle()) return;
    isWaiting = true;
    void inside.whenAllIdle().then(() => {
      isWaiting = false;
      wake();
    });
  };
}

/** Ends that were noticed are told before anybody asks whether there is more to hear. */
async function settle(ctx: OperationContext): Promise<void> {
  try {
    await reconcile(ctx);
  } catch (error) {
    if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) throw error;
  }
}

async function assembleLead(lead: Lead, worker: Worker): Promise<Agent> {
  const { call, plan, ctx, settings: live, sessionId } = lead;
  const settings = live();
  const { io } = call;
  const modelFor = modelsOf(plan.model, ctx, settings);
  const tell = (line: string): void => lead.view.note(line);
  const { cwd, env } = ctx;
  const { root } = ctx.home;
  const { permissions: rules } = settings;
  const type = { name: DEFAULT_AGENT_TYPE, root, cwd, env, directory: cwd, rules };
  const { never, ...own } = await openType(type, tell);
  const surroundings = await openSurroundings(ctx, settings, never, tell);
  lead.ends.push(surroundings.close);
  return assembleAgent({
    ctx,
    worker,
    role: "lead",
    model: await modelFor(LEAD_NAME, undefined),
    modelFor,
    surroundings,
    agentType: DEFAULT_AGENT_TYPE,
    ...own,
    words: plan.words,
    sessionId,
    settings: live,
    spawn: {
      ...plan.spawn,
      // As they are when somebody is spawned.
      get worktrees() {
        return worktreeSettings(live());
      },
      get isPriced() {
        return isPricedBy(live());
      },
      get bypassForbidden() {
        return bypassForbiddenBy(live(), ctx.env);
      },
    },
    alone: !io.terminal.stdin,
    open: isConversational(lead),
    keepsTeam: plan.keep,
    onTeamRecreated: () => lead.teamMade(),
  });
}
