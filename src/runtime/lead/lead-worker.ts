import type { Agent } from "../../agent/agent.ts";
import { DEFAULT_AGENT_TYPE } from "../../agent/prompts/agent-types.ts";
import { messageOf, TeamError } from "../../errors.ts";
import { ownSnapshot } from "../../launch/shell-snapshot.ts";
import type { OperationContext } from "../../operations/context.ts";
import {
  areTeammatesWorking,
  isRunOver,
  membersWithQuestions,
  runState,
} from "../../operations/run/run-state.ts";
import { checkCli, checkCliVersion } from "../../operations/spawn/check-cli.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import { reconcile } from "../../operations/supervision/reconcile.ts";
import { Retries } from "../../operations/supervision/retries.ts";
import { pause } from "../../os/clock.ts";
import { planPath } from "../../protocol/paths.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { bypassForbiddenBy, isPricedBy, worktreeSettings } from "../../settings/settings.ts";
import { trustDecision } from "../../settings/trust.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { createStatusKeeper, type StatusKeeper } from "../../worker/status-record.ts";
import { Worker } from "../../worker/worker.ts";
import { openAgentResources } from "../agent/agent-resources.ts";
import { openAgentSandbox } from "../agent/agent-sandbox.ts";
import { assembleAgent } from "../agent/assemble-agent.ts";
import { openAgentType } from "../agent/load-agent-types.ts";
import { modelsOf } from "../agent/models.ts";
import { ownFacts, ownPane } from "../own-process-record.ts";
import { openWorkerBell } from "../worker-bell.ts";
import { restOf, wakeLater, wakeWhenAllIdle } from "./client-rest.ts";
import { rememberTeam } from "./finish-run.ts";
import { hasUser, isInteractive, type Lead } from "./lead.ts";
import { answerTeammateRequest, notifyUnansweredPlans } from "./teammate-requests.ts";

/** Shown once in a run that stays in conversation. */
const GOAL_REACHED = "done: type your next goal, or /exit";

/** Creates the lead's worker, which decides when the run is over, and the keeper of the lead's status record. */
export async function leadWorker(
  lead: Lead,
  signal: AbortSignal,
): Promise<{ readonly worker: Worker; readonly status: StatusKeeper }> {
  const { ctx, view, plan, sessionId } = lead;
  const { ref } = ctx;
  const bell = await openWorkerBell(ref, LEAD_NAME, {
    problem: (error) => view.error(messageOf(error)),
    others: [lead.children],
  });
  const facts = { ...ownFacts(ref, LEAD_NAME, sessionId), ...ownPane(ctx.env) };
  let answerDue = false;
  // Without a goal on the command line, the user types it.
  let isGoalReached = plan.goal === "";
  const waitsForAnswer = (isUserPresent: boolean): boolean => {
    const asking = membersWithQuestions(ctx, isUserPresent);
    // An answer to the lead starts a turn, maybe after the record of its request was removed.
    answerDue ||= asking.includes(LEAD_NAME);
    return answerDue || asking.length > 0;
  };
  const notifyPlans = notifyUnansweredPlans(lead);
  const wakeWhenIdle = wakeWhenAllIdle(lead.inProcess, () => worker.recheck());
  const wakeIn = wakeLater(() => worker.recheck());
  const checked = retriedChecks(lead, signal, () => worker.recheck());
  const waitsAfterFailure = waitAtPromptAfterFailure(lead, () => worker.lastFailure);
  const last = readStatus(ref, LEAD_NAME);
  const status = createStatusKeeper(ref, LEAD_NAME, facts, last, ctx.clock, {
    onState: (state) => {
      if (state === "running") answerDue = false;
    },
    onProblem: (text) => view.error(text),
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
    createAgent: (own) => assembleLead(lead, own, signal),
    awaitsAgent: plan.cli !== undefined,
    preparesAgent: plan.cli === undefined && lead.settings().hooks.SessionStart !== undefined,
    steersTyped: lead.client !== undefined,
    decideWhenIdle: checked("wait", async (held: number, interrupted: boolean) => {
      notifyPlans();
      if (lead.client !== undefined) {
        await processEndings(ctx);
        const rest = restOf(lead, { held, interrupted, failure: worker.lastFailure }, wakeIn);
        if (rest === undefined) wakeWhenIdle();
        else lead.client.onRest(rest);
        return "wait";
      }
      if (!plan.once && isGoalReached) {
        waitsAfterFailure();
        return "wait";
      }
      await processEndings(ctx);
      // The user or program that interrupted the turn has another instruction.
      if (interrupted) return "wait";
      const { stdin: isUserPresent } = lead.call.io.terminal;
      if (waitsForAnswer(isUserPresent)) return "wait";
      const facts = runState(ctx, held);
      if (isUserPresent && facts.interrupted > 0) return "wait";
      if (!isRunOver(facts)) {
        wakeWhenIdle();
        return "wait";
      }
      if (waitsAfterFailure()) return "wait";
      if (plan.once) return "over";
      // The end of a background task starts another turn.
      if ((readStatus(ref, LEAD_NAME)?.background ?? 0) > 0) return "wait";
      isGoalReached = true;
      view.waiting(GOAL_REACHED);
      return "wait";
    }),
    isTeamWorking: checked(true, async (held: number) => areTeammatesWorking(ctx, held)),
    handleCodeOnlyMessage: (entry) => answerTeammateRequest(lead, worker, entry),
  });
  return { worker, status };
}

/**
 * Returns a wrapper for checks of the team. A check that fails is reported and repeated: a held lock or a full disk must not end the
 * run. Until then the wrapper returns the given result.
 */
function retriedChecks({ view }: Lead, signal: AbortSignal, recheck: () => void) {
  const retries = new Retries((message) => view.error(message));
  let isRetrying = false;
  return <T, A extends readonly unknown[]>(meanwhile: T, check: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      try {
        const result = await check(...args);
        retries.succeeded();
        return result;
      } catch (error) {
        const delayMs = retries.failed(error);
        if (isRetrying) return meanwhile;
        isRetrying = true;
        void pause(delayMs, signal).then(() => {
          isRetrying = false;
          recheck();
        });
        return meanwhile;
      }
    };
}

/** Returns whether the lead waits for its user after a failed turn, and notifies the user once per failure. */
function waitAtPromptAfterFailure({ call, view }: Lead, failureOf: () => string | undefined): () => boolean {
  let noted: string | undefined;
  return () => {
    const failure = failureOf();
    if (!isInteractive(call)) return false;
    if (failure !== undefined && failure !== noted)
      view.note("the lead's model failed: type a line to try again, or /exit, which keeps the team");
    noted = failure;
    return failure !== undefined;
  };
}

/** Processes new endings first, so that their notifications count when the run's state is read. */
async function processEndings(ctx: OperationContext): Promise<void> {
  try {
    await reconcile(ctx);
  } catch (error) {
    if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) throw error;
  }
}

async function assembleLead(lead: Lead, worker: Worker, signal: AbortSignal): Promise<Agent> {
  const { plan, ctx, settings: live, sessionId } = lead;
  if (plan.cli !== undefined) {
    const { assembleCliLead } = await import("./assemble-cli-lead.ts");
    return assembleCliLead(lead, worker, plan.cli.name, spawnOptions(lead));
  }
  const settings = live();
  const note = (line: string): void => lead.view.note(line);
  const { cwd, env } = ctx;
  const { root } = ctx.home;
  const { permissions: rules } = settings;
  const { allowedTools, disallowedTools, tools } = plan.limits;
  const type = { name: DEFAULT_AGENT_TYPE, root, cwd, env, directory: cwd, rules, denied: disallowedTools };
  const { typeDenials, ...own } = await openAgentType(type, note);
  const denials = [...typeDenials, ...(disallowedTools ?? [])];
  const sandbox = await openAgentSandbox(
    {
      ...{ ctx, name: LEAD_NAME, settings: live, mode: undefined, addDirs: undefined },
      ...{ denials, sessionId },
    },
    note,
  );
  const servers = { sandbox, clientServers: plan.mcpServers };
  const resources = await openAgentResources(ctx, settings, denials, note, servers);
  lead.ends.push(resources.close);
  // Closed after the servers that run in it.
  if (sandbox !== undefined) lead.ends.push(sandbox.close);
  const modelFor = modelsOf(plan.model, ctx, live, { worker, note, sandbox });
  return assembleAgent({
    ctx,
    worker,
    role: "lead",
    model: await modelFor(LEAD_NAME, undefined),
    modelFor,
    resources,
    sandbox,
    agentType: DEFAULT_AGENT_TYPE,
    ...own,
    promptOverrides: plan.promptOverrides,
    sessionId,
    settings: live,
    spawn: spawnOptions(lead),
    isUnattended: !hasUser(lead),
    allowedTools,
    disallowedTools,
    tools,
    isConversational: !plan.once,
    snapshot: ownSnapshot(ctx),
    signal,
    keepsTeam: plan.keep,
    onTeamMoved: (before) => lead.teamMoved(before),
    onTeamDelete: () => rememberTeam(lead),
  });
}

/** The options for teammates; settings are read at each spawn. */
function spawnOptions({ plan, ctx, settings: live }: Lead): SpawnOptions {
  const { root } = ctx.home;
  return {
    ...plan.spawn,
    isTrusted: (directory) => trustDecision(root, directory) === true,
    checkCli: (cli, input) => checkCli(cli, input, live().teams.adapters, ctx.env),
    checkVersion: (cli) => checkCliVersion(cli, live().teams.adapters, ctx.env, plan.spawn.signal),
    // Getters: settings are read at each spawn.
    get worktrees() {
      return worktreeSettings(live());
    },
    get modelNames() {
      return live().teams.models;
    },
    get sandbox() {
      return live().teams.sandbox.mode;
    },
    get isPriced() {
      return isPricedBy(live());
    },
    get bypassForbidden() {
      return bypassForbiddenBy(live(), ctx.env);
    },
  };
}
